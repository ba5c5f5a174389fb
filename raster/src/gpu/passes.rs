//! The passes of a frame: what each binds, and which of a frame's features its text depends on.

use super::device::WORKGROUP_INVOCATIONS;
use super::features::{Features, feature};
use super::layout::WORKGROUP;
use super::pass::{Binding, Pass};

const LINE: [u32; 3] = [WORKGROUP, 1, 1];
const ONE: [u32; 3] = [1, 1, 1];

/// What the entry points of one shader bind, after the uniforms of all.
macro_rules! bindings {
    ($($kind:ident $name:ident),* $(,)?) => {
        &[Binding::uniform("u"), Binding::uniform("band"), $(Binding::$kind(stringify!($name))),*]
    };
}

const DEFORM_BINDINGS: &[Binding] = bindings![
    uniform job,
    list sources,
    list pose,
    filled vertices,
];
const PROJECT_BINDINGS: &[Binding] = bindings![
    list instances,
    list vertices,
    filled clip,
];
const SETUP_BINDINGS: &[Binding] = bindings![
    list instances,
    list materials,
    list triangles,
    list clip,
    filled setups,
    write clipped,
    write counters,
];
const PLAN_BINDINGS: &[Binding] = bindings![
    write counters,
    write plans,
    filled listed,
];
const BIN_BINDINGS: &[Binding] = bindings![
    list setups,
    write tiles,
    filled pairs,
    write large,
    write counters,
    write order,
];
const VISIBILITY_BINDINGS: &[Binding] = bindings![
    list setups,
    list pairs,
    read tiles,
    filled items,
    write pixels,
    write counters,
    write samples,
    read order,
];
const MASK_BINDINGS: &[Binding] = bindings![
    list instances,
    list materials,
    list vertices,
    list clip,
    list triangles,
    layered texels,
    list setups,
    list pairs,
    read tiles,
    write samples,
    read order,
];
const LAYERS_BINDINGS: &[Binding] = bindings![
    list setups,
    list pairs,
    read tiles,
    filled items,
    write pixels,
    write counters,
    read samples,
    read order,
    write sorted,
];
const SHADOW_BINDINGS: &[Binding] = bindings![
    list instances,
    list materials,
    list vertices,
    list clip,
    list triangles,
    layered texels,
    list tables,
    list items,
    list nodes,
    list leaf_triangles,
    list placements,
    write reaching,
];
const SHADE_BINDINGS: &[Binding] = bindings![
    list instances,
    list materials,
    list vertices,
    list clip,
    list triangles,
    layered texels,
    list tables,
    uniform srgb_table,
    list items,
    filled lit,
    write frame,
    read reaching,
    list guides,
    list traced_light,
];
const GUIDE_BINDINGS: &[Binding] = bindings![
    list instances,
    list materials,
    list vertices,
    list clip,
    list triangles,
    layered texels,
    list items,
    uniform srgb_table,
    write found,
];
const POINT_BINDINGS: &[Binding] = bindings![
    list instances,
    list materials,
    list vertices,
    list clip,
    list triangles,
    layered texels,
    list items,
    uniform srgb_table,
    list guides,
    filled points,
];
const TRACE_BINDINGS: &[Binding] = bindings![
    list instances,
    list materials,
    list vertices,
    list clip,
    list triangles,
    layered texels,
    list tables,
    uniform srgb_table,
    list points,
    list nodes,
    list leaf_triangles,
    list placements,
    list background,
    list distribution,
    list emitters,
    filled paths,
    read tracing,
];
const ACCUMULATE_BINDINGS: &[Binding] = bindings![
    list items,
    list points,
    list paths,
    read pixels,
    read order,
    write sums,
    read tracing,
];
const RESOLVE_BINDINGS: &[Binding] = bindings![
    list items,
    list lit,
    list background,
    read pixels,
    write frame,
    uniform encoding,
    read order,
    list traced_light,
];
const COVERAGE_BINDINGS: &[Binding] = bindings![
    list instances,
    list items,
    read pixels,
    write frame,
    read order,
];

const fn pass(
    label: &'static str,
    stem: &'static str,
    entry: &'static str,
    workgroup: [u32; 3],
    bindings: &'static [Binding],
) -> Pass {
    Pass { label, stem, entry, workgroup, bindings }
}

pub(crate) const DEFORM: &Pass = &pass("raster.deform", "deform", "main", LINE, DEFORM_BINDINGS);
pub(crate) const PROJECT: &Pass = &pass("raster.project", "project", "current", LINE, PROJECT_BINDINGS);
pub(crate) const PROJECT_PREVIOUS: &Pass =
    &pass("raster.project.previous", "project", "previous", LINE, PROJECT_BINDINGS);
pub(crate) const SETUP: &Pass = &pass("raster.setup", "setup", "whole", LINE, SETUP_BINDINGS);
pub(crate) const SETUP_CLIPPED: &Pass =
    &pass("raster.setup.clipped", "setup", "clip_listed", LINE, SETUP_BINDINGS);
pub(crate) const PLAN_CLIPPED: &Pass = &pass("raster.plan.clipped", "plan", "clipped", ONE, PLAN_BINDINGS);
pub(crate) const PLAN_SETUPS: &Pass = &pass("raster.plan.setups", "plan", "setups", ONE, PLAN_BINDINGS);
pub(crate) const PLAN_LARGE: &Pass = &pass("raster.plan.large", "plan", "large", ONE, PLAN_BINDINGS);
pub(crate) const PLAN_TILES: &Pass = &pass("raster.plan.tiles", "plan", "tiles", ONE, PLAN_BINDINGS);
pub(crate) const PLAN_ITEMS: &Pass = &pass("raster.plan.items", "plan", "items", LINE, PLAN_BINDINGS);
pub(crate) const COUNT_SMALL: &Pass =
    &pass("raster.bin.count_small", "bin", "count_small", LINE, BIN_BINDINGS);
pub(crate) const COUNT_LARGE: &Pass =
    &pass("raster.bin.count_large", "bin", "count_large", LINE, BIN_BINDINGS);
pub(crate) const SCAN: &Pass =
    &pass("raster.bin.scan", "bin", "scan", [WORKGROUP_INVOCATIONS, 1, 1], BIN_BINDINGS);
pub(crate) const SORT_TILES: &Pass = &pass("raster.bin.sort_tiles", "bin", "sort_tiles", LINE, BIN_BINDINGS);
pub(crate) const FILL_SMALL: &Pass = &pass("raster.bin.fill_small", "bin", "fill_small", LINE, BIN_BINDINGS);
pub(crate) const FILL_LARGE: &Pass = &pass("raster.bin.fill_large", "bin", "fill_large", LINE, BIN_BINDINGS);
pub(crate) const VISIBILITY: &Pass =
    &pass("raster.visibility", "visibility", "opaque", LINE, VISIBILITY_BINDINGS);
pub(crate) const MASK: &Pass = &pass("raster.mask", "mask", "masked", LINE, MASK_BINDINGS);
pub(crate) const LAYERS: &Pass = &pass("raster.layers", "layers", "collect", LINE, LAYERS_BINDINGS);
pub(crate) const SHADOW: &Pass = &pass("raster.shadow", "shadow", "main", LINE, SHADOW_BINDINGS);
pub(crate) const SHADE: &Pass = &pass("raster.shade", "shade", "main", LINE, SHADE_BINDINGS);
pub(crate) const RESOLVE: &Pass = &pass("raster.resolve", "resolve", "main", LINE, RESOLVE_BINDINGS);
pub(crate) const RESOLVE_BLANK: &Pass =
    &pass("raster.resolve.blank", "resolve", "blank", LINE, RESOLVE_BINDINGS);
pub(crate) const COVERAGE: &Pass = &pass("raster.coverage", "coverage", "main", LINE, COVERAGE_BINDINGS);

pub(crate) const GUIDE: &Pass = &pass("raster.guide", "guide", "main", LINE, GUIDE_BINDINGS);
pub(crate) const POINT: &Pass = &pass("raster.point", "point", "main", LINE, POINT_BINDINGS);
pub(crate) const TRACE: &Pass = &pass("raster.trace", "trace", "main", LINE, TRACE_BINDINGS);
pub(crate) const ACCUMULATE: &Pass =
    &pass("raster.accumulate", "accumulate", "main", LINE, ACCUMULATE_BINDINGS);

/// All passes.
pub(crate) const ALL: [&Pass; 28] = [
    DEFORM,
    PROJECT,
    PROJECT_PREVIOUS,
    SETUP,
    SETUP_CLIPPED,
    PLAN_CLIPPED,
    PLAN_SETUPS,
    PLAN_LARGE,
    PLAN_TILES,
    PLAN_ITEMS,
    COUNT_SMALL,
    COUNT_LARGE,
    SCAN,
    SORT_TILES,
    FILL_SMALL,
    FILL_LARGE,
    VISIBILITY,
    MASK,
    LAYERS,
    SHADOW,
    SHADE,
    RESOLVE,
    RESOLVE_BLANK,
    COVERAGE,
    GUIDE,
    POINT,
    TRACE,
    ACCUMULATE,
];

/// The features that a pass's text depends on.
pub(crate) fn relevant(pass: &Pass, all: Features) -> Features {
    use feature::*;
    let textures = UV0 | UV1 | TEXTURED_BASE | COLORED | TRILINEAR;
    let surface = textures | TEXTURED_NORMAL | LIT | ORTHOGRAPHIC;
    let seen = surface | TEXTURED_METALLIC_ROUGHNESS | LOBES;
    let (bits, samples, looks) = match pass.stem {
        "setup" => (0, true, false),
        "plan" => (0, true, false),
        "bin" => (LAYERED, false, false),
        "visibility" | "coverage" => (LAYERED, true, false),
        "layers" => (0, true, false),
        "mask" => (textures, true, false),
        "shadow" => (textures | LAYERED, true, false),
        "shade" => (!(LAYERED | OUT_BASE | OUT_COLOR | SRGB8 | SKY | EMITTERS), true, false),
        "guide" => (surface, true, false),
        "point" => (seen, true, false),
        "trace" => (seen | TEXTURED_EMISSIVE | PUNCTUAL_LIGHTS | SKY | EMITTERS | LAYERED, false, false),
        "accumulate" => (LOBES | LAYERED, true, false),
        "resolve" => (LAYERED | DATA | TRACED | OUT_BASE | OUT_COLOR | SRGB8, true, true),
        _ => (0, false, false),
    };
    Features {
        bits: all.bits & bits,
        samples: if samples { all.samples } else { 1 },
        tonemap: if looks { all.tonemap } else { 0 },
        background: if looks || pass.stem == "bin" { all.background } else { 0 },
    }
}
