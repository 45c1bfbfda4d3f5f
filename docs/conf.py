"""The site, made of the pages here and of those that `site_pages` writes into `generated`."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
GENERATED = DOCS / "generated"
sys.path[:0] = [str(DOCS), str(DOCS.parent)]  # the package here, not one installed

from site_pages import examples, gallery, messages, reference  # noqa: E402

import mbvi  # noqa: E402

project = "mbvi"
version = release = mbvi.__version__
copyright = "the mbvi developers"
root_doc = "index"
language = "en"
smartquotes = False
default_role = "code"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["site_pages"]
(GENERATED / "extra").mkdir(parents=True, exist_ok=True)  # asked for before it is filled

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"exclude-members": "model_config, model_post_init"}  # of pydantic
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
add_module_names = False
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "mbvi"
html_copy_source = False
html_static_path = ["site_pages/static"]
html_css_files = ["site.css"]
html_extra_path = ["generated/extra"]

# What the sidebar shows; a page that is in no list, or not there, fails the build.
NAVIGATION = {
    "": ["tutorial", "robot_tutorial", "generated/gallery"],
    "Models": [
        "guide",
        "joints",
        "joints_with_rotations",
        "forces",
        "forces_between_bodies",
        "forces_on_coordinates",
        "forces_of_actuators",
        "forces_of_tendons",
        "constraints",
        "constraints_on_motions",
        "constraints_of_rolling",
        "contacts",
        "ropes",
        "contacts_with_friction",
        "tables",
        "python",
        "kinematics",
        "dynamics",
        "lagrangians",
        "equations",
        "robots",
        "attach",
        "urdf",
        "mjcf",
        "sdf",
        "robots_checked",
        "urdf_checked",
    ],
    "Runs": [
        "schemes",
        "splitting",
        "accuracy",
        "one_step",
        "stepping",
        "control",
        "sensors",
        "events",
        "learning",
        "loops",
        "plots",
        "element_forces",
        "postures",
        "animation",
        "files",
        "long_runs",
        "ensembles",
        "sampling",
        "clusters",
        "start",
        "errors",
    ],
    "Background": [
        "theory",
        "architecture",
        "extending",
        "exact",
        "papers",
        "work_precision",
        "impacts",
        "benchmarks",
        "fast_steps",
    ],
    "Reference": [
        f"generated/{name}"
        for name in ("schema", "messages", "api", "results", "ensembles", "analysis", "gym", "exact", "schemes")
    ],
}

GENERATED_PAGES = """
## Gallery and references

- [Gallery](generated/gallery.md): every model that comes with `mbvi`, drawn
- [Keys of model files](generated/schema.md), every one; [all messages](generated/messages.md)
- [Python names](generated/api.md), [results](generated/results.md), [analysis](generated/analysis.md),
  [environments](generated/gym.md), [exact motions](generated/exact.md), [schemes as data](generated/schemes.md)
"""


ADDED = {
    root_doc: GENERATED_PAGES,
    "errors": """
## All messages

[Every message](generated/messages.md) that `mbvi` may give, listed from its sources.
""",
}


def add_generated(app, name, source):
    """Add what is generated, and to the index the sidebar, to pages whose Markdown can be read as it stands."""
    if name in examples.PAGES:
        source[0] = examples.illustrated(name, source[0])
    source[0] += ADDED.get(name, "")
    if name == root_doc:
        for caption, pages in NAVIGATION.items():
            title = [f":caption: {caption}"] if caption else []
            source[0] += "\n".join(["\n\n```{toctree}", ":hidden:", *title, "", *pages, "```"])


def generate(app):
    """Write the references, the list of messages, the pictures of examples and the gallery."""
    reference.write(GENERATED)
    messages.write(GENERATED)
    examples.write(GENERATED)
    gallery.write(GENERATED)


def setup(app):
    """Connect what is generated."""
    app.connect("builder-inited", generate)
    app.connect("source-read", add_generated)
    app.connect("autodoc-process-docstring", reference.plain, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", reference.is_field)
    app.connect("doctree-read", reference.dash)
