//! `isoframe inspect`: what is in a scene, and what of it will be ignored.

use std::fmt::Write as _;

use clap::Args;
use isoframe_raster::scene::{
    AlphaMode, Animation, Camera, CameraKind, Image, Light, LightKind, Material, Mesh, Node, Scene, Topology,
};
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::table::Table;
use super::{Global, print, source};

/// Show what is in a scene, and what of it will be ignored
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Scene: a .glb, a .gltf, a folder or .zip with one of them, or `demo`
    #[arg(value_name = "SCENE")]
    scene: String,
}

impl Inspect {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit, Failure> {
        let scene = source::scene(&self.scene)?;
        let summary = Summary::of(&scene);
        if global.json {
            print::json(&summary)?;
        } else {
            print::text(summary.tables())?;
        }
        Ok(Exit::Done)
    }
}

/// What is in a scene, as `--json` gives it.
#[derive(Debug, Serialize)]
struct Summary {
    /// blake3 of the scene, hex: what frame requests name it by.
    hash: String,
    node_count: usize,
    /// Drawn triangles, lines and points, every node and instance counted.
    triangle_count: u64,
    line_count: u64,
    point_count: u64,
    meshes: Vec<MeshRow>,
    materials: Vec<MaterialRow>,
    images: Vec<ImageRow>,
    animations: Vec<AnimationRow>,
    cameras: Vec<CameraRow>,
    lights: Vec<LightRow>,
    skins: Vec<SkinRow>,
    variants: Vec<String>,
    /// What the file holds that will be ignored.
    ignored: Vec<String>,
}

#[derive(Debug, Serialize)]
struct MeshRow {
    name: String,
    primitive_count: usize,
    vertex_count: usize,
    triangle_count: usize,
    /// Nodes that draw it, instances counted.
    use_count: u64,
    morph_target_count: usize,
}

#[derive(Debug, Serialize)]
struct MaterialRow {
    name: String,
    alpha: &'static str,
    metallic: f32,
    roughness: f32,
    texture_count: usize,
    double_sided: bool,
    unlit: bool,
}

#[derive(Debug, Serialize)]
struct ImageRow {
    name: String,
    width: u32,
    height: u32,
    memory_bytes: u64,
}

#[derive(Debug, Serialize)]
struct AnimationRow {
    name: String,
    channel_count: usize,
    duration_s: f32,
}

#[derive(Debug, Serialize)]
struct CameraRow {
    /// What `--camera` takes.
    index: usize,
    name: String,
    lens: String,
}

#[derive(Debug, Serialize)]
struct LightRow {
    name: String,
    kind: &'static str,
    color: [f32; 3],
    intensity: f32,
}

#[derive(Debug, Serialize)]
struct SkinRow {
    name: String,
    joint_count: usize,
}

impl Summary {
    fn of(scene: &Scene) -> Summary {
        let use_counts = use_counts(scene);
        Summary {
            hash: scene.hash.clone(),
            node_count: scene.nodes.len(),
            triangle_count: drawn_count(scene, Topology::Triangles),
            line_count: drawn_count(scene, Topology::Lines),
            point_count: drawn_count(scene, Topology::Points),
            meshes: mesh_rows(scene, &use_counts),
            materials: scene.materials.iter().map(material_row).collect(),
            images: image_rows(scene),
            animations: animation_rows(scene),
            cameras: camera_rows(scene),
            lights: light_rows(scene),
            skins: scene
                .skins
                .iter()
                .map(|skin| SkinRow { name: skin.name.clone(), joint_count: skin.joints.len() })
                .collect(),
            variants: scene.variants.clone(),
            ignored: scene.notes.clone(),
        }
    }

    fn tables(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "scene      {}", self.hash);
        let _ = writeln!(
            text,
            "draws      {} triangles, {} lines, {} points in {} nodes",
            self.triangle_count, self.line_count, self.point_count, self.node_count
        );
        if !self.variants.is_empty() {
            let _ = writeln!(text, "variants   {}", self.variants.join(", "));
        }
        for (title, table) in [
            ("Meshes", self.mesh_table()),
            ("Materials", self.material_table()),
            ("Images", self.image_table()),
            ("Animations", self.animation_table()),
            ("Cameras", self.camera_table()),
            ("Lights", self.light_table()),
            ("Skins", self.skin_table()),
        ] {
            if !table.is_empty() {
                let _ = write!(text, "\n{title}\n{table}");
            }
        }
        let _ = match self.ignored.as_slice() {
            [] => writeln!(text, "\nNothing in it will be ignored."),
            notes => {
                let _ = writeln!(text, "\nWill be ignored");
                notes.iter().try_for_each(|note| writeln!(text, "- {note}"))
            }
        };
        text
    }

    fn mesh_table(&self) -> Table {
        let mut table = Table::new(["mesh", "primitives", "vertices", "triangles", "drawn", "morph targets"]);
        for mesh in &self.meshes {
            table.row([
                name_or_dash(&mesh.name),
                mesh.primitive_count.to_string(),
                mesh.vertex_count.to_string(),
                mesh.triangle_count.to_string(),
                mesh.use_count.to_string(),
                mesh.morph_target_count.to_string(),
            ]);
        }
        table
    }

    fn material_table(&self) -> Table {
        let mut table = Table::new(["material", "alpha", "metallic", "roughness", "textures", "notes"]);
        for material in &self.materials {
            let mut notes = Vec::new();
            if material.double_sided {
                notes.push("double-sided");
            }
            if material.unlit {
                notes.push("unlit");
            }
            table.row([
                name_or_dash(&material.name),
                material.alpha.into(),
                material.metallic.to_string(),
                material.roughness.to_string(),
                material.texture_count.to_string(),
                notes.join(", "),
            ]);
        }
        table
    }

    fn image_table(&self) -> Table {
        let mut table = Table::new(["image", "width px", "height px", "memory KiB"]);
        for image in &self.images {
            table.row([
                name_or_dash(&image.name),
                image.width.to_string(),
                image.height.to_string(),
                (image.memory_bytes / 1024).to_string(),
            ]);
        }
        table
    }

    fn animation_table(&self) -> Table {
        let mut table = Table::new(["animation", "channels", "duration s"]);
        for animation in &self.animations {
            table.row([
                name_or_dash(&animation.name),
                animation.channel_count.to_string(),
                animation.duration_s.to_string(),
            ]);
        }
        table
    }

    fn camera_table(&self) -> Table {
        let mut table = Table::new(["camera", "index", "lens"]);
        for camera in &self.cameras {
            table.row([name_or_dash(&camera.name), camera.index.to_string(), camera.lens.clone()]);
        }
        table
    }

    fn light_table(&self) -> Table {
        let mut table = Table::new(["light", "kind", "colour", "intensity"]);
        for light in &self.lights {
            let [r, g, b] = light.color;
            let unit = if light.kind == "directional" { "lux" } else { "candela" };
            table.row([
                name_or_dash(&light.name),
                light.kind.into(),
                format!("{r} {g} {b}"),
                format!("{} {unit}", light.intensity),
            ]);
        }
        table
    }

    fn skin_table(&self) -> Table {
        let mut table = Table::new(["skin", "joints"]);
        for skin in &self.skins {
            table.row([name_or_dash(&skin.name), skin.joint_count.to_string()]);
        }
        table
    }
}

/// How often each mesh is drawn: once per node and instance.
fn use_counts(scene: &Scene) -> Vec<u64> {
    let mut counts = vec![0; scene.meshes.len()];
    for node in &scene.nodes {
        if let Some(mesh) = node.mesh {
            counts[mesh as usize] += node.instances.as_ref().map_or(1, |instances| instances.len() as u64);
        }
    }
    counts
}

/// Triangles, lines or points that the scene draws: once per node and instance, hidden ones too.
pub(crate) fn drawn_count(scene: &Scene, topology: Topology) -> u64 {
    let of_mesh = |(mesh, uses): (&Mesh, u64)| count(mesh, topology) as u64 * uses;
    scene.meshes.iter().zip(use_counts(scene)).map(of_mesh).sum()
}

fn count(mesh: &Mesh, topology: Topology) -> usize {
    let corners = match topology {
        Topology::Triangles => 3,
        Topology::Lines => 2,
        Topology::Points => 1,
    };
    let of_topology = mesh.primitives.iter().filter(|primitive| primitive.topology == topology);
    of_topology.map(|primitive| primitive.indices.len() / corners).sum()
}

fn mesh_rows(scene: &Scene, use_counts: &[u64]) -> Vec<MeshRow> {
    let row = |(mesh, &use_count): (&Mesh, &u64)| MeshRow {
        name: mesh.name.clone(),
        primitive_count: mesh.primitives.len(),
        vertex_count: mesh.primitives.iter().map(|primitive| primitive.position.len()).sum(),
        triangle_count: count(mesh, Topology::Triangles),
        use_count,
        morph_target_count: mesh.weights.len(),
    };
    scene.meshes.iter().zip(use_counts).map(row).collect()
}

fn material_row(material: &Material) -> MaterialRow {
    let textures = [
        material.base_color_texture,
        material.metallic_roughness_texture,
        material.normal_texture,
        material.occlusion_texture,
        material.emissive_texture,
    ];
    MaterialRow {
        name: material.name.clone(),
        alpha: match material.alpha_mode {
            AlphaMode::Opaque => "opaque",
            AlphaMode::Mask { .. } => "mask",
            AlphaMode::Blend => "blend",
        },
        metallic: material.metallic,
        roughness: material.roughness,
        texture_count: textures.iter().flatten().count(),
        double_sided: material.double_sided,
        unlit: material.unlit,
    }
}

fn image_rows(scene: &Scene) -> Vec<ImageRow> {
    let row = |image: &Image| ImageRow {
        name: image.name.clone(),
        width: image.width,
        height: image.height,
        memory_bytes: image.rgba.len() as u64 * 4,
    };
    scene.images.iter().map(row).collect()
}

fn animation_rows(scene: &Scene) -> Vec<AnimationRow> {
    let row = |animation: &Animation| AnimationRow {
        name: animation.name.clone(),
        channel_count: animation.channels.len(),
        duration_s: animation.duration_s,
    };
    scene.animations.iter().map(row).collect()
}

/// Cameras as `--camera INDEX` counts them: nodes that carry one, in node order.
fn camera_rows(scene: &Scene) -> Vec<CameraRow> {
    let carriers =
        scene.nodes.iter().filter_map(|node| Some((node, scene.cameras.get(node.camera? as usize)?)));
    let row = |(index, (node, camera)): (usize, (&Node, &Camera))| {
        let name = if node.name.is_empty() { &camera.name } else { &node.name };
        CameraRow { index, name: name.clone(), lens: lens(&camera.kind) }
    };
    carriers.enumerate().map(row).collect()
}

fn lens(kind: &CameraKind) -> String {
    match kind {
        CameraKind::Perspective { yfov_rad, .. } => {
            format!("perspective, {:.1} degrees", yfov_rad.to_degrees())
        }
        CameraKind::Orthographic { xmag, ymag, .. } => {
            format!("orthographic, {} by {} units", xmag * 2.0, ymag * 2.0)
        }
    }
}

fn light_rows(scene: &Scene) -> Vec<LightRow> {
    let row = |light: &Light| LightRow {
        name: light.name.clone(),
        kind: match light.kind {
            LightKind::Directional => "directional",
            LightKind::Point => "point",
            LightKind::Spot { .. } => "spot",
        },
        color: light.color,
        intensity: light.intensity,
    };
    scene.lights.iter().map(row).collect()
}

fn name_or_dash(name: &str) -> String {
    if name.is_empty() { "-".into() } else { name.into() }
}
