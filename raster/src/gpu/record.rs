//! The order in which a band's passes run, and what each binds.

use std::collections::BTreeMap;

use super::deform::DeformJob;
use super::device::Device;
use super::features::{Features, feature};
use super::layout::{self, Band, DISPATCH_WIDTH, WORKGROUP};
use super::lists::List;
use super::pass::{Pass, Pipeline, Workgroups};
use super::resident::{EnvironmentLists, SceneLists};
use super::trees::FrameTrees;
use super::{buffers, passes, shader};
use crate::draw::DrawList;
use crate::frame::RenderError;

/// Pipelines kept.
const PIPELINES_MAX: usize = 512;

/// Pipelines by the pass's label and what it was made for.
pub(super) type Pipelines = BTreeMap<(&'static str, Features), Pipeline>;

/// Records the passes of one frame.
pub(super) struct Recorder<'a> {
    pub device: &'a Device,
    pub list: &'a DrawList,
    pub features: Features,
    pub scene: &'a SceneLists,
    pub lights: &'a EnvironmentLists,
    pub pipelines: &'a mut Pipelines,
    pub edits: &'a [(String, String)],
    pub trees: Option<FrameTrees>,
    /// Triangles that shine: see `shaders/emitters.wgsl`.
    pub emitters: List,
    pub constants: wgpu::Buffer,
}

/// What the passes of a band bind.
pub(super) struct Bound {
    pub band: wgpu::Buffer,
    pub instances: List,
    pub clip: List,
    pub setups: List,
    pub pairs: List,
    pub items: List,
    pub lit: List,
    pub clipped: wgpu::Buffer,
    pub counters: wgpu::Buffer,
    pub plans: wgpu::Buffer,
    pub large: wgpu::Buffer,
    pub tiles: wgpu::Buffer,
    pub order: wgpu::Buffer,
    pub pixels: wgpu::Buffer,
    pub samples: wgpu::Buffer,
    pub sorted: wgpu::Buffer,
    pub frame: wgpu::Buffer,
    pub reaching: wgpu::Buffer,
    pub srgb_table: wgpu::Buffer,
    pub encoding: wgpu::Buffer,
    /// What light was traced for, and what was found, with a row above the band and one below.
    pub guides: List,
    pub traced_light: List,
    /// Guides as the device finds them.
    pub found: wgpu::Buffer,
    pub points: List,
    pub paths: List,
    pub sums: wgpu::Buffer,
    pub tracing: wgpu::Buffer,
}

/// Vertices to deform: jobs and what they read.
pub(super) struct DeformWork {
    pub jobs: Vec<DeformJob>,
    pub pose: List,
}

impl Recorder<'_> {
    /// Deforms, projects and sets up the frame's triangles.
    pub fn geometry(
        &mut self,
        pass: &mut wgpu::ComputePass<'_>,
        b: &Bound,
        deform: &DeformWork,
    ) -> Result<(), RenderError> {
        let (scene, list) = (self.scene, self.list);
        for job in &deform.jobs {
            let job_uniform = buffers::uniform(self.device, "deform job", job);
            self.record(
                passes::DEFORM,
                pass,
                b,
                linear(job.vertex_count),
                &[
                    job_uniform.as_entire_binding(),
                    scene.source_list.resource(),
                    deform.pose.resource(),
                    scene.vertices.resource(),
                ],
            )?;
        }
        let project = [b.instances.resource(), scene.vertices.resource(), b.clip.resource()];
        self.record(passes::PROJECT, pass, b, linear(list.clip_vertex_count), &project)?;
        if list.moving {
            self.record(passes::PROJECT_PREVIOUS, pass, b, linear(list.clip_vertex_count), &project)?;
        }
        let setup = [
            b.instances.resource(),
            scene.materials.resource(),
            scene.triangles.resource(),
            b.clip.resource(),
            b.setups.resource(),
            b.clipped.as_entire_binding(),
            b.counters.as_entire_binding(),
        ];
        self.record(passes::SETUP, pass, b, linear(list.triangle_count), &setup)?;
        self.plan(passes::PLAN_CLIPPED, pass, b)?;
        let clipped = Workgroups::Planned(&b.plans, layout::PLAN_CLIPPED);
        self.record(passes::SETUP_CLIPPED, pass, b, clipped, &setup)
    }

    fn plan(
        &mut self,
        plan: &'static Pass,
        pass: &mut wgpu::ComputePass<'_>,
        b: &Bound,
    ) -> Result<(), RenderError> {
        let bindings = [b.counters.as_entire_binding(), b.plans.as_entire_binding(), b.items.resource()];
        self.record(plan, pass, b, Workgroups::Fixed([1, 1, 1]), &bindings)
    }

    /// Lists which set-ups touch which of the band's tiles.
    pub fn bin(
        &mut self,
        pass: &mut wgpu::ComputePass<'_>,
        b: &Bound,
        band: &Band,
    ) -> Result<(), RenderError> {
        let bindings = [
            b.setups.resource(),
            b.tiles.as_entire_binding(),
            b.pairs.resource(),
            b.large.as_entire_binding(),
            b.counters.as_entire_binding(),
            b.order.as_entire_binding(),
        ];
        let setups = Workgroups::Planned(&b.plans, layout::PLAN_SETUP);
        let large = Workgroups::Planned(&b.plans, layout::PLAN_LARGE);
        self.plan(passes::PLAN_SETUPS, pass, b)?;
        self.record(passes::COUNT_SMALL, pass, b, setups, &bindings)?;
        self.plan(passes::PLAN_LARGE, pass, b)?;
        self.record(passes::COUNT_LARGE, pass, b, large, &bindings)?;
        self.record(passes::SCAN, pass, b, Workgroups::Fixed([1, 1, 1]), &bindings)?;
        self.record(passes::SORT_TILES, pass, b, linear(band.tiles_x * band.tiles_y), &bindings)?;
        self.plan(passes::PLAN_TILES, pass, b)?;
        self.record(passes::FILL_SMALL, pass, b, setups, &bindings)?;
        self.record(passes::FILL_LARGE, pass, b, large, &bindings)
    }

    /// From what the tiles list to what the pixels show.
    pub fn items(&mut self, pass: &mut wgpu::ComputePass<'_>, b: &Bound) -> Result<(), RenderError> {
        let scene = self.scene;
        let tiles = Workgroups::Planned(&b.plans, layout::PLAN_ACTIVE);
        let strips = Workgroups::Planned(&b.plans, layout::PLAN_ACTIVE_STRIPS);
        let visibility = [
            b.setups.resource(),
            b.pairs.resource(),
            b.tiles.as_entire_binding(),
            b.items.resource(),
            b.pixels.as_entire_binding(),
            b.counters.as_entire_binding(),
            b.samples.as_entire_binding(),
            b.order.as_entire_binding(),
        ];
        self.record(passes::VISIBILITY, pass, b, strips, &visibility)?;
        if self.features.has(feature::MASKED) {
            self.record(
                passes::MASK,
                pass,
                b,
                tiles,
                &[
                    b.instances.resource(),
                    scene.materials.resource(),
                    scene.vertices.resource(),
                    b.clip.resource(),
                    scene.triangles.resource(),
                    scene.texels.resource(),
                    b.setups.resource(),
                    b.pairs.resource(),
                    b.tiles.as_entire_binding(),
                    b.samples.as_entire_binding(),
                    b.order.as_entire_binding(),
                ],
            )?;
        }
        if self.features.has(feature::LAYERED) {
            let mut layers = visibility.to_vec();
            layers.push(b.sorted.as_entire_binding());
            self.record(passes::LAYERS, pass, b, tiles, &layers)?;
        }
        self.plan(passes::PLAN_ITEMS, pass, b)
    }

    /// From what the pixels show to what the outputs hold.
    pub fn outputs(&mut self, pass: &mut wgpu::ComputePass<'_>, b: &Bound) -> Result<(), RenderError> {
        let (scene, lights) = (self.scene, self.lights);
        let tiles = Workgroups::Planned(&b.plans, layout::PLAN_ACTIVE);
        let blank = Workgroups::Planned(&b.plans, layout::PLAN_BLANK);
        let items = Workgroups::Planned(&b.plans, layout::PLAN_ITEM);
        if self.features.has(feature::SHADOWS) {
            self.shadow(pass, b, items)?;
        }
        self.record(
            passes::SHADE,
            pass,
            b,
            items,
            &[
                b.instances.resource(),
                scene.materials.resource(),
                scene.vertices.resource(),
                b.clip.resource(),
                scene.triangles.resource(),
                scene.texels.resource(),
                lights.tables.resource(),
                b.srgb_table.as_entire_binding(),
                b.items.resource(),
                b.lit.resource(),
                b.frame.as_entire_binding(),
                b.reaching.as_entire_binding(),
                b.guides.resource(),
                b.traced_light.resource(),
            ],
        )?;
        let resolve = [
            b.items.resource(),
            b.lit.resource(),
            lights.background.resource(),
            b.pixels.as_entire_binding(),
            b.frame.as_entire_binding(),
            b.encoding.as_entire_binding(),
            b.order.as_entire_binding(),
            b.traced_light.resource(),
        ];
        self.record(passes::RESOLVE, pass, b, tiles, &resolve)?;
        self.record(passes::RESOLVE_BLANK, pass, b, blank, &resolve)?;
        if self.features.has(feature::OUT_ID) {
            let coverage = [
                b.instances.resource(),
                b.items.resource(),
                b.pixels.as_entire_binding(),
                b.frame.as_entire_binding(),
                b.order.as_entire_binding(),
            ];
            self.record(passes::COVERAGE, pass, b, tiles, &coverage)?;
        }
        Ok(())
    }

    /// Finds which lights reach which items.
    fn shadow(
        &mut self,
        pass: &mut wgpu::ComputePass<'_>,
        b: &Bound,
        items: Workgroups<'_>,
    ) -> Result<(), RenderError> {
        let Some(trees) = &self.trees else { return Ok(()) };
        let [nodes, triangles, placements] =
            [&trees.nodes, &trees.triangles, &trees.placements].map(List::clone);
        let (scene, lights) = (self.scene, self.lights);
        self.record(
            passes::SHADOW,
            pass,
            b,
            items,
            &[
                b.instances.resource(),
                scene.materials.resource(),
                scene.vertices.resource(),
                b.clip.resource(),
                scene.triangles.resource(),
                scene.texels.resource(),
                lights.tables.resource(),
                b.items.resource(),
                nodes.resource(),
                triangles.resource(),
                placements.resource(),
                b.reaching.as_entire_binding(),
            ],
        )
    }

    pub fn record(
        &mut self,
        what: &'static Pass,
        pass: &mut wgpu::ComputePass<'_>,
        bound: &Bound,
        workgroups: Workgroups<'_>,
        resources: &[wgpu::BindingResource<'_>],
    ) -> Result<(), RenderError> {
        if matches!(workgroups, Workgroups::Fixed([0, ..] | [_, 0, _])) {
            return Ok(());
        }
        let features = passes::relevant(what, self.features);
        if self.pipelines.len() > PIPELINES_MAX {
            self.pipelines.clear();
        }
        let pipeline = match self.pipelines.get(&(what.label, features)) {
            Some(pipeline) => pipeline,
            None => {
                let source = self
                    .edits
                    .iter()
                    .fold(source(what, features), |source, (from, to)| source.replace(from, to));
                let made = Pipeline::new(self.device, what, &source)?;
                self.pipelines.entry((what.label, features)).or_insert(made)
            }
        };
        let mut all = vec![self.constants.as_entire_binding(), bound.band.as_entire_binding()];
        all.extend_from_slice(resources);
        pipeline.record(self.device, pass, &all, workgroups);
        Ok(())
    }
}

/// The text of a pass made for some features.
pub(crate) fn source(pass: &Pass, features: Features) -> String {
    let mut constants = layout::constants();
    constants.extend(features.constants());
    shader::compose(pass.stem, &constants)
}

/// One invocation each.
fn linear(count: u32) -> Workgroups<'static> {
    folded(count.div_ceil(WORKGROUP))
}

/// Workgroups in rows of [`DISPATCH_WIDTH`].
fn folded(count: u32) -> Workgroups<'static> {
    Workgroups::Fixed([count.min(DISPATCH_WIDTH), count.div_ceil(DISPATCH_WIDTH), 1])
}
