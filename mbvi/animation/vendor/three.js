export {
  BufferAttribute, BufferGeometry, Color, ConeGeometry, CylinderGeometry, DirectionalLight, DoubleSide, Group,
  HemisphereLight, Matrix4, Mesh, MeshBasicMaterial, MeshStandardMaterial, NeutralToneMapping, PCFShadowMap, PerspectiveCamera,
  PlaneGeometry, Quaternion, Scene, ShaderMaterial, ShadowMaterial, SRGBColorSpace, Vector3, WebGLRenderer,
} from 'three';
export { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
export { Line2 } from 'three/examples/jsm/lines/Line2.js';
export { LineGeometry } from 'three/examples/jsm/lines/LineGeometry.js';
export { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
