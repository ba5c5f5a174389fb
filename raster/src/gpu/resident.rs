//! Scenes and environments on the device, kept from frame to frame.

use std::sync::{Arc, Weak};

use super::deform::Sources;
use super::device::Device;
use super::layout::albedo_tables;
use super::lists::List;
use super::trees::{FrameTrees, TreeLists};
use crate::accel::SceneTree;
use crate::draw::{DrawList, PackedLight};
use crate::environment::Environment;
use crate::frame::RenderError;
use crate::prepared::Prepared;
use crate::scene::Scene;

/// A scene on the device.
#[derive(Debug)]
pub(crate) struct SceneLists {
    scene: Weak<Scene>,
    /// Vertices of the scene, then deformed ones, then those of the previous frame.
    pub vertices: List,
    /// Vertices of the scene.
    pub fixed_vertex_count: u32,
    pub materials: List,
    pub triangles: List,
    pub texels: List,
    /// What deformable primitives are made of.
    pub sources: Sources,
    pub source_list: List,
    /// What rays meet; nothing until a frame needs it.
    trees: TreeLists,
}

impl SceneLists {
    fn new(device: &Device, prepared: &Prepared, list: &DrawList) -> Result<SceneLists, RenderError> {
        let triangles: Vec<[u32; 4]> =
            prepared.indices.chunks_exact(3).map(|t| [t[0], t[1], t[2], 0]).collect();
        let mut sources = Sources::new(prepared);
        let source_list = List::upload(device, "deform sources", &sources.parts)?;
        sources.parts = Vec::new();
        Ok(SceneLists {
            scene: Arc::downgrade(&prepared.scene),
            vertices: SceneLists::vertices(device, prepared, list)?,
            fixed_vertex_count: prepared.vertices.len() as u32,
            materials: List::upload(device, "materials", &prepared.materials)?,
            triangles: List::upload(device, "triangles", &triangles)?,
            texels: List::upload_texels(device, &prepared.texels)?,
            sources,
            source_list,
            trees: TreeLists::default(),
        })
    }

    fn vertices(device: &Device, prepared: &Prepared, list: &DrawList) -> Result<List, RenderError> {
        let count = vertex_parts(prepared, list);
        let vertices = List::new(device, "vertices", count)?;
        vertices.write(device, 0, bytemuck::cast_slice(&prepared.vertices));
        device.check()?;
        Ok(vertices)
    }

    /// Memory held on the device. *Units*: bytes.
    pub fn bytes(&self) -> u64 {
        let lists = [&self.vertices, &self.materials, &self.triangles, &self.texels, &self.source_list];
        lists.map(List::bytes).iter().sum::<u64>() + self.trees.bytes()
    }
}

/// Elements that hold a scene's vertices and a frame's deformed ones.
fn vertex_parts(prepared: &Prepared, list: &DrawList) -> u64 {
    let count = prepared.vertices.len() as u64 + 2 * u64::from(list.deformed_vertex_count);
    count * (size_of::<crate::prepared::Vertex>() / 16) as u64
}

/// An environment on the device.
#[derive(Debug)]
pub(crate) struct EnvironmentLists {
    hash: String,
    shape: [usize; 2],
    /// Lights of the frame, split sum, sheen, prefiltered environment.
    pub tables: List,
    /// The picture itself.
    pub background: List,
    /// Where its light comes from; nothing until a frame needs it.
    distribution: Option<List>,
}

impl EnvironmentLists {
    fn new(device: &Device, environment: &Environment) -> Result<EnvironmentLists, RenderError> {
        let mut parts = albedo_tables();
        parts.extend_from_slice(&environment.specular);
        Ok(EnvironmentLists {
            hash: environment.hash.clone(),
            shape: shape(environment),
            tables: List::upload(device, "tables", &parts)?,
            background: List::upload(device, "background", &environment.background)?,
            distribution: None,
        })
    }

    /// Puts a frame's lights in.
    pub fn write_lights(&self, device: &Device, lights: &[PackedLight]) {
        self.tables.write(device, 0, bytemuck::cast_slice(lights));
    }

    /// Puts where light comes from on the device, if it is not.
    fn load_distribution(&mut self, device: &Device, environment: &Environment) -> Result<(), RenderError> {
        if self.distribution.is_none() {
            let d = environment.distribution();
            let words = [d.rows.as_slice(), d.cells.as_slice()].concat();
            self.distribution = Some(List::upload(device, "distribution", &words)?);
        }
        Ok(())
    }

    /// Where light comes from, or the picture in the place of what nobody reads.
    pub fn distribution(&self) -> &List {
        self.distribution.as_ref().unwrap_or(&self.background)
    }

    fn bytes(&self) -> u64 {
        self.tables.bytes() + self.background.bytes() + self.distribution.as_ref().map_or(0, List::bytes)
    }
}

fn shape(environment: &Environment) -> [usize; 2] {
    [environment.specular.len(), environment.background.len()]
}

/// What a frame reads.
#[derive(Debug)]
pub(crate) struct Loaded<'a> {
    pub scene: &'a SceneLists,
    pub lights: &'a EnvironmentLists,
    /// Where rays are needed.
    pub trees: Option<FrameTrees>,
}

/// What a frame reads beside what all do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needs<'a> {
    /// What its rays meet.
    pub tree: Option<&'a SceneTree>,
    /// Whether it draws directions from the environment.
    pub distribution: bool,
}

/// What is kept, least recently used first.
#[derive(Debug, Default)]
pub(crate) struct Residents {
    scenes: Vec<SceneLists>,
    environments: Vec<EnvironmentLists>,
}

impl Residents {
    /// Puts a job's scene, what its rays meet, and environment on the device, if they are not, and lets others go until `limit_bytes`
    /// is kept.
    pub fn load(
        &mut self,
        device: &Device,
        prepared: &Prepared,
        environment: &Environment,
        list: &DrawList,
        needs: Needs<'_>,
        limit_bytes: u64,
    ) -> Result<Loaded<'_>, RenderError> {
        self.scenes.retain(|s| s.scene.strong_count() > 0);
        let found = self.scenes.iter().position(|s| s.scene.as_ptr() == Arc::as_ptr(&prepared.scene));
        let mut scene = match found {
            Some(k) => self.scenes.remove(k),
            None => {
                self.make_room(limit_bytes / 2);
                SceneLists::new(device, prepared, list)?
            }
        };
        if scene.vertices.capacity() < vertex_parts(prepared, list) {
            scene.vertices = SceneLists::vertices(device, prepared, list)?;
        }
        let trees = needs.tree.map(|tree| scene.trees.load(device, tree)).transpose()?;
        self.scenes.push(scene);
        let found = self
            .environments
            .iter()
            .position(|e| e.hash == environment.hash && e.shape == shape(environment));
        let mut lights = match found {
            Some(k) => self.environments.remove(k),
            None => EnvironmentLists::new(device, environment)?,
        };
        if needs.distribution {
            lights.load_distribution(device, environment)?;
        }
        self.environments.push(lights);
        self.make_room(limit_bytes);
        let k = self.scenes.len() - 1;
        let e = self.environments.len() - 1;
        Ok(Loaded { scene: &self.scenes[k], lights: &self.environments[e], trees })
    }

    /// Memory held. *Units*: bytes.
    pub fn bytes(&self) -> u64 {
        let scenes: u64 = self.scenes.iter().map(SceneLists::bytes).sum();
        scenes + self.environments.iter().map(EnvironmentLists::bytes).sum::<u64>()
    }

    fn make_room(&mut self, limit_bytes: u64) {
        while self.bytes() > limit_bytes && self.scenes.len() > 1 {
            self.scenes.remove(0);
        }
        while self.bytes() > limit_bytes && self.environments.len() > 1 {
            self.environments.remove(0);
        }
    }
}
