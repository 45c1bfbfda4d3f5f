"""A kernel and all kernels that it calls as one program, which LLVM optimises once.

Numba optimises and links every function, then once more with each of its callers, up to the function that Python calls. Here
a kernel that only kernels call is kept as LLVM's intermediate representation, with its own calls left open: an *inner* kernel.
One that Python calls, an *entry*, is linked with all that it reaches, optimised and turned into machine code; all but the
entry itself is internal to the program, so that LLVM may inline it, or drop it.

An inner kernel's representation is kept on disk by a hash of its content and of that of the kernels that it calls: an entry
that is compiled in another process finds it there.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import llvmlite.binding as llvm
from numba import _dynfunc
from numba.core import cgutils, typed_passes, types, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, Flags
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass

from mbvi.kernels.compiler.compiling import COMPILING

LIKE_PLAIN_NUMBA = "linkonce_odr"  # linkage of a function that several modules may define


class InnerLibrary(JITCodeLibrary):
    """The intermediate representation of an inner kernel, and the libraries of the kernels that it calls."""

    bitcode: bytes = b""
    key_on_disk: str | None = None

    @classmethod
    def from_bitcode(cls, codegen: Any, name: str, bitcode: bytes, called: list[Any]) -> "InnerLibrary":
        """A library that was made by another process."""
        library = cls(codegen, name)
        library.bitcode, library._linking_libraries, library._finalized = bitcode, called, True
        return library

    @cached_property
    def module(self) -> Any:
        """The representation of the kernel alone."""
        return llvm.parse_bitcode(self.bitcode) if self.bitcode else self._final_module

    def add_llvm_module(self, ll_module: Any) -> None:
        """Add a module, in which local variables that are numbers become registers: that makes all later work less."""
        ll_module.data_layout = self._codegen._data_layout
        passes = llvm.create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        passes.run(ll_module, self._codegen._pass_builder(opt=0))
        self.module.link_in(ll_module)

    def finalize(self) -> None:
        """Let other modules define the same functions; nothing is optimised yet."""
        for function in self.module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = LIKE_PLAIN_NUMBA
        self._finalized = True

    @cached_property
    def called(self) -> list[Any]:
        """The libraries of what it calls, each once."""
        return list(dict.fromkeys(self._linking_libraries))

    def _get_module_for_linking(self) -> Any:
        """What a function that plain numba compiles links: this kernel with all that it reaches."""
        if self._shared_module is None:
            self._ensure_finalized()
            self._shared_module = self.module.clone()
            for library in reached(self.called):
                self._shared_module.link_in(_module(library), preserve=True)
        return self._shared_module

    def get_pointer_to_function(self, name: str) -> int:
        """The address 0, since such a library has no machine code of its own."""
        return 0


def _module(library: Any) -> Any:
    """The module of one library alone, where it is an inner kernel."""
    return library.module if isinstance(library, InnerLibrary) else library._get_module_for_linking()


def reached(libraries: list[Any]) -> list[Any]:
    """These libraries and all that inner kernels among them call, each once and behind all that call it.

    LLVM links a function that several modules may define only where something that is linked already calls it.
    """
    done: list[Any] = []
    seen: set[int] = set()

    def add(library: Any) -> None:
        if id(library) not in seen:
            seen.add(id(library))
            for called in library.called if isinstance(library, InnerLibrary) else ():
                add(called)
            done.append(library)

    for library in libraries:
        add(library)
    return done[::-1]


class EntryLibrary(JITCodeLibrary):
    """An entry with all that it reaches, optimised once."""

    def add_llvm_module(self, ll_module: Any) -> None:
        """Add a module as it is."""
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        """Link, optimise, and make machine code."""
        self._raise_if_finalized()
        inner: set[str] = set()
        for library in reached(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            module = _module(library)
            inner.update(function.name for function in module.functions if not function.is_declaration)
            self._final_module.link_in(module, preserve=True)
        for function in self._final_module.functions:
            if function.name in inner:
                function.linkage = "private"  # and so without a symbol, which an equal name elsewhere would mean
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)
        self._final_module.verify()
        self._finalize_final_module()


@register_pass(mutates_CFG=False, analysis_only=False)
class _RegisterInner(LoweringPass):
    """Declare a kernel to numba that has no machine code, so that others can call it."""

    _name = "mbvi_register_inner"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        lowered = state["cr"]
        function = registered(state.targetctx, state.library, lowered.fndesc, lowered.env)
        state["cr"] = lowered._replace(cfunc=function)
        return True


def registered(target: Any, library: InnerLibrary, descriptor: Any, environment: Any) -> Any:
    """An inner kernel as numba's function object, which callers find among its functions."""
    library._ensure_finalized()
    name = descriptor.qualname.split(".")[-1]
    function = _dynfunc.make_function(descriptor.lookup_module(), name, "inner kernel", 0, environment, (library,))
    call = _calling(descriptor)
    call.signature, call.libs = descriptor.argtypes, (library,)
    target._defns[function].append(call, call.signature)
    return function


def _calling(descriptor: Any) -> Callable:
    """How a call of an inner kernel is generated."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = context.declare_function(builder.module, descriptor)
        return call_native(context, builder, function, descriptor.restype, descriptor.argtypes, arguments)

    return generate


def call_native(
    context: Any, builder: Any, function: Any, returned: types.Type, kinds: tuple[types.Type, ...], arguments: Any
) -> Any:
    """Generate the call of a kernel: as numba does, but without a branch on an exception, which no kernel raises.

    function   LLVM's value of the function, or of its address
    returned   what the kernel returns; kinds: of its arguments
    """
    convention = context.call_conv
    place = cgutils.alloca_once(builder, convention.get_return_type(returned).pointee)
    words = convention._get_arg_packer(kinds).as_arguments(builder, arguments)
    builder.call(function, [place, convention._get_excinfo_argument(builder.function), *words])
    if returned == types.none:
        return context.get_dummy_value()
    return context.get_returned_value(builder, returned, builder.load(place))


class KernelFlags(Flags):
    """The flags of a compilation, which numba compares tens of thousands of times: here by those that are set alone."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, KernelFlags):
            return self is other or self._values == other._values
        return super().__eq__(other)

    def __hash__(self) -> int:
        return hash((self.nrt, self.forceinline, self.no_compile))


class _Pipeline(CompilerBase):
    """The passes that kernels need, of those that numba has; they have no closures, no exceptions and no lists."""

    library_class: type[JITCodeLibrary]

    def compile_extra(self, func: Callable) -> Any:
        """Compile a function into a library of this kind."""
        COMPILING.report()
        self.state.library = self.library_class(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)

    def define_pipelines(self) -> list[PassManager]:
        """One list of passes."""
        manager = PassManager("mbvi")
        for each in self._passes():
            manager.add_pass(each, each._name)
        manager.finalize()
        return [manager]

    def _passes(self) -> list[type]:
        untyped, typed = untyped_passes, typed_passes
        return [
            untyped.TranslateByteCode, untyped.FixupArgs, untyped.IRProcessing,
            untyped.DeadBranchPrune, untyped.GenericRewrites, untyped.ReconstructSSA,
            typed.NopythonTypeInference, typed.PreLowerStripPhis, typed.IRLegalization,
            typed.NativeLowering, *self.after_lowering, typed.NoPythonBackend,
        ]  # fmt: skip

    after_lowering: tuple[type, ...] = ()

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags = KernelFlags(self.state.flags)


class EntryPipeline(_Pipeline):
    """How an entry is compiled."""

    library_class = EntryLibrary


class InnerPipeline(_Pipeline):
    """How an inner kernel is compiled."""

    library_class = InnerLibrary
    after_lowering = (_RegisterInner,)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags.no_compile = True
