//! Scenes of a few squares, and their frames.

use std::sync::Arc;

use isoframe_raster::backend::{Cancel, Job};
use isoframe_raster::cpu::{Cpu, CpuOptions};
use isoframe_raster::environment::{Environment, LEVELS, OCTAHEDRAL_SIDE};
use isoframe_raster::frame::{
    CameraChoice, ColorFormat, Frame, FrameRequest, Lighting, Output, ProjectionChoice, Traced,
};
use isoframe_raster::prepared::Prepared;
use isoframe_raster::scene::{Limits, Source, load};
use serde_json::{Value, json};

use crate::gltf::Gltf;

/// A scene in the making.
pub struct Room {
    file: Gltf,
}

/// A white surface that only diffuses.
pub fn diffuse(base: [f32; 3]) -> Value {
    json!({
        "doubleSided": true,
        "pbrMetallicRoughness": { "baseColorFactor": [base[0], base[1], base[2], 1.0], "metallicFactor": 0.0 },
        "extensions": { "KHR_materials_specular": { "specularFactor": 0.0 } },
    })
}

/// A metal of this roughness.
pub fn metal(base: [f32; 3], roughness: f32) -> Value {
    json!({
        "doubleSided": true,
        "pbrMetallicRoughness": {
            "baseColorFactor": [base[0], base[1], base[2], 1.0],
            "metallicFactor": 1.0,
            "roughnessFactor": roughness,
        },
    })
}

/// A dielectric of this roughness.
pub fn plastic(base: [f32; 3], roughness: f32) -> Value {
    json!({
        "doubleSided": true,
        "pbrMetallicRoughness": {
            "baseColorFactor": [base[0], base[1], base[2], 1.0],
            "metallicFactor": 0.0,
            "roughnessFactor": roughness,
        },
    })
}

/// A black surface that shines on its front.
pub fn lamp(radiance: f32) -> Value {
    json!({
        "emissiveFactor": [1.0, 1.0, 1.0],
        "pbrMetallicRoughness": { "baseColorFactor": [0.0, 0.0, 0.0, 1.0], "metallicFactor": 0.0 },
        "extensions": {
            "KHR_materials_emissive_strength": { "emissiveStrength": radiance },
            "KHR_materials_specular": { "specularFactor": 0.0 },
        },
    })
}

impl Room {
    pub fn new() -> Room {
        let mut file = Gltf::new();
        file.json["extensionsUsed"] =
            json!(["KHR_materials_specular", "KHR_materials_emissive_strength", "KHR_lights_punctual"]);
        Room { file }
    }

    pub fn material(&mut self, material: Value) -> u32 {
        self.file.push("materials", material)
    }

    /// A parallelogram from a corner along two edges; its front is where the edges turn anticlockwise.
    pub fn square(&mut self, corner: [f32; 3], u: [f32; 3], v: [f32; 3], material: u32) {
        let at = |a: f32, b: f32| -> [f32; 3] { std::array::from_fn(|k| corner[k] + a * u[k] + b * v[k]) };
        let (a, b, c, d) = (at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0));
        let position = self.file.floats("VEC3", [a, b, c, a, c, d].as_flattened());
        let mesh = self.file.push(
            "meshes",
            json!({ "primitives": [{ "attributes": { "POSITION": position }, "material": material }] }),
        );
        self.file.node(json!({ "mesh": mesh }));
    }

    /// A square of side `2 * half` in the plane y = `y`, facing up.
    pub fn floor(&mut self, y: f32, half: f32, material: u32) {
        self.square([-half, y, half], [2.0 * half, 0.0, 0.0], [0.0, 0.0, -2.0 * half], material);
    }

    /// The same, facing down.
    pub fn ceiling(&mut self, y: f32, half: f32, material: u32) {
        self.square([-half, y, -half], [2.0 * half, 0.0, 0.0], [0.0, 0.0, 2.0 * half], material);
    }

    /// A sphere of many triangles with smooth normals.
    pub fn sphere(&mut self, center: [f32; 3], radius: f32, material: u32) {
        const RINGS: u32 = 48;
        let (mut position, mut normal, mut index) = (Vec::new(), Vec::new(), Vec::new());
        for ring in 0..=RINGS {
            for spoke in 0..=2 * RINGS {
                let (theta, phi) = (
                    std::f32::consts::PI * ring as f32 / RINGS as f32,
                    std::f32::consts::PI * spoke as f32 / RINGS as f32,
                );
                let n = [theta.sin() * phi.cos(), theta.cos(), theta.sin() * phi.sin()];
                normal.extend(n);
                position.extend((0..3).map(|k| center[k] + radius * n[k]));
            }
        }
        let row = 2 * RINGS + 1;
        for k in (0..RINGS).flat_map(|ring| (0..2 * RINGS).map(move |spoke| ring * row + spoke)) {
            index.extend([k, k + 1, k + row, k + 1, k + row + 1, k + row]);
        }
        let attributes = json!({
            "POSITION": self.file.floats("VEC3", &position),
            "NORMAL": self.file.floats("VEC3", &normal),
        });
        let bytes: Vec<u8> = index.iter().flat_map(|k: &u32| k.to_le_bytes()).collect();
        let indices = self.file.accessor("SCALAR", crate::gltf::U32, index.len(), &bytes);
        let primitive = json!({ "attributes": attributes, "indices": indices, "material": material });
        let mesh = self.file.push("meshes", json!({ "primitives": [primitive] }));
        self.file.node(json!({ "mesh": mesh }));
    }

    /// A punctual light on a node with these properties.
    pub fn light(&mut self, light: Value, mut node: Value) {
        let lights = &mut self.file.json["extensions"]["KHR_lights_punctual"]["lights"];
        if lights.is_null() {
            *lights = json!([]);
        }
        let lights = lights.as_array_mut().expect("an array");
        lights.push(light);
        node["extensions"] = json!({ "KHR_lights_punctual": { "light": lights.len() - 1 } });
        self.file.node(node);
    }

    pub fn prepared(&self) -> Prepared {
        let limits = Limits::default();
        let source = Source::from_bytes(self.file.clone().glb(), &limits).expect("a file");
        Prepared::new(Arc::new(load(&source, &limits).expect("a scene")))
    }
}

/// A camera at `eye` that looks along -Y at a square of this half side, straight on.
pub fn from_above(eye: [f64; 3], half: f64, px: u32) -> CameraChoice {
    let [x, y, z] = eye;
    CameraChoice::Matrix {
        // X right, Z of the view up, so that -Z looks down.
        world_from_view: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, 0.0, x, y, z, 1.0],
        projection: ProjectionChoice::Orthographic { metres_per_px: 2.0 * half / f64::from(px) },
    }
}

/// The same radiance from everywhere.
pub fn uniform(radiance: f32) -> Environment {
    let texels = (0..LEVELS).map(|level| (OCTAHEDRAL_SIDE >> level).pow(2) as usize).sum();
    let texel = [radiance, radiance, radiance, 0.0];
    Environment {
        hash: "uniform".into(),
        specular: vec![texel; texels],
        irradiance_sh: [[0.0; 4]; 9],
        background: vec![texel; 64],
        background_side: 8,
        distribution: Default::default(),
    }
}

/// A request for `px` squared pixels of traced light.
pub fn request(camera: CameraChoice, px: u32, traced: Traced) -> FrameRequest {
    FrameRequest {
        camera,
        width: px,
        height: px,
        samples: 1,
        lighting: Lighting { traced: Some(traced), environment: Some(false), ..Lighting::default() },
        outputs: vec![Output::Base],
        ..FrameRequest::default()
    }
}

/// Runs a job over a scene.
pub fn with_job<T>(
    scene: &Prepared,
    environment: &Environment,
    request: &FrameRequest,
    run: impl FnOnce(&Cpu, &Job<'_>) -> T,
) -> T {
    let cpu = Cpu::new(CpuOptions::default()).expect("threads");
    let cancel = Cancel::default();
    run(&cpu, &Job { scene, environment, request, color: ColorFormat::Linear, cancel: &cancel })
}

pub fn render(scene: &Prepared, environment: &Environment, request: &FrameRequest) -> Frame {
    with_job(scene, environment, request, |cpu, job| cpu.render(job).expect("rendered"))
}

/// Mean of the base image's first channel.
pub fn mean(frame: &Frame) -> f64 {
    let base = frame.base.as_ref().expect("base");
    base.iter().map(|p| f64::from(p[0])).sum::<f64>() / base.len() as f64
}
