//! The passes of a frame: what each binds, and which of a frame's features its text depends on.

use super::features::{Features, feature};
use super::pass::{Binding, Pass};

macro_rules! pass {
    ($name:ident, $label:literal, $stem:literal, $entry:literal, $workgroup:expr, [$($binding:expr),* $(,)?]) => {
        pub(crate) const $name: &Pass = &Pass {
            label: $label,
            stem: $stem,
            entry: $entry,
            workgroup: $workgroup,
            bindings: &[Binding::uniform("u"), Binding::uniform("band"), $($binding),*],
        };
    };
}

const LINE: [u32; 3] = [64, 1, 1];

pass!(
    DEFORM,
    "raster.deform",
    "deform",
    "main",
    LINE,
    [Binding::uniform("job"), Binding::list("sources"), Binding::list("pose"), Binding::filled("vertices"),]
);
pass!(
    PROJECT,
    "raster.project",
    "project",
    "current",
    LINE,
    [Binding::list("instances"), Binding::list("vertices"), Binding::filled("clip"),]
);
pass!(
    PROJECT_PREVIOUS,
    "raster.project.previous",
    "project",
    "previous",
    LINE,
    [Binding::list("instances"), Binding::list("vertices"), Binding::filled("clip"),]
);
pass!(
    SETUP,
    "raster.setup",
    "setup",
    "whole",
    LINE,
    [
        Binding::list("instances"),
        Binding::list("materials"),
        Binding::list("triangles"),
        Binding::list("clip"),
        Binding::filled("setups"),
        Binding::write("clipped"),
        Binding::write("counters"),
    ]
);
pass!(
    SETUP_CLIPPED,
    "raster.setup.clipped",
    "setup",
    "clip_listed",
    LINE,
    [
        Binding::list("instances"),
        Binding::list("materials"),
        Binding::list("triangles"),
        Binding::list("clip"),
        Binding::filled("setups"),
        Binding::write("clipped"),
        Binding::write("counters"),
    ]
);
pass!(
    PLAN_CLIPPED,
    "raster.plan.clipped",
    "plan",
    "clipped",
    [1, 1, 1],
    [Binding::write("counters"), Binding::write("plans"), Binding::filled("listed"),]
);
pass!(
    PLAN_SETUPS,
    "raster.plan.setups",
    "plan",
    "setups",
    [1, 1, 1],
    [Binding::write("counters"), Binding::write("plans"), Binding::filled("listed"),]
);
pass!(
    PLAN_LARGE,
    "raster.plan.large",
    "plan",
    "large",
    [1, 1, 1],
    [Binding::write("counters"), Binding::write("plans"), Binding::filled("listed"),]
);
pass!(
    PLAN_ITEMS,
    "raster.plan.items",
    "plan",
    "items",
    LINE,
    [Binding::write("counters"), Binding::write("plans"), Binding::filled("listed"),]
);
pass!(
    COUNT_SMALL,
    "raster.bin.count_small",
    "bin",
    "count_small",
    LINE,
    [
        Binding::list("setups"),
        Binding::write("tiles"),
        Binding::filled("pairs"),
        Binding::write("large"),
        Binding::write("counters"),
    ]
);
pass!(
    COUNT_LARGE,
    "raster.bin.count_large",
    "bin",
    "count_large",
    LINE,
    [
        Binding::list("setups"),
        Binding::write("tiles"),
        Binding::filled("pairs"),
        Binding::write("large"),
        Binding::write("counters"),
    ]
);
pass!(
    SCAN,
    "raster.bin.scan",
    "bin",
    "scan",
    [256, 1, 1],
    [
        Binding::list("setups"),
        Binding::write("tiles"),
        Binding::filled("pairs"),
        Binding::write("large"),
        Binding::write("counters"),
    ]
);
pass!(
    FILL_SMALL,
    "raster.bin.fill_small",
    "bin",
    "fill_small",
    LINE,
    [
        Binding::list("setups"),
        Binding::write("tiles"),
        Binding::filled("pairs"),
        Binding::write("large"),
        Binding::write("counters"),
    ]
);
pass!(
    FILL_LARGE,
    "raster.bin.fill_large",
    "bin",
    "fill_large",
    LINE,
    [
        Binding::list("setups"),
        Binding::write("tiles"),
        Binding::filled("pairs"),
        Binding::write("large"),
        Binding::write("counters"),
    ]
);
pass!(
    VISIBILITY,
    "raster.visibility",
    "visibility",
    "opaque",
    LINE,
    [
        Binding::list("setups"),
        Binding::list("pairs"),
        Binding::read("tiles"),
        Binding::filled("items"),
        Binding::write("pixels"),
        Binding::write("counters"),
        Binding::write("samples"),
    ]
);
pass!(
    MASK,
    "raster.mask",
    "mask",
    "masked",
    LINE,
    [
        Binding::list("instances"),
        Binding::list("materials"),
        Binding::list("vertices"),
        Binding::list("clip"),
        Binding::list("triangles"),
        Binding::list("texels"),
        Binding::list("setups"),
        Binding::list("pairs"),
        Binding::read("tiles"),
        Binding::write("samples"),
    ]
);
pass!(
    LAYERS,
    "raster.layers",
    "layers",
    "collect",
    LINE,
    [
        Binding::list("setups"),
        Binding::list("pairs"),
        Binding::read("tiles"),
        Binding::filled("items"),
        Binding::write("pixels"),
        Binding::write("counters"),
        Binding::read("samples"),
        Binding::write("sorted"),
    ]
);
pass!(
    SHADE,
    "raster.shade",
    "shade",
    "main",
    LINE,
    [
        Binding::list("instances"),
        Binding::list("materials"),
        Binding::list("vertices"),
        Binding::list("clip"),
        Binding::list("triangles"),
        Binding::list("texels"),
        Binding::list("tables"),
        Binding::list("items"),
        Binding::filled("lit"),
        Binding::write("frame"),
        Binding::uniform("srgb_table"),
    ]
);
pass!(
    RESOLVE,
    "raster.resolve",
    "resolve",
    "main",
    LINE,
    [
        Binding::list("items"),
        Binding::list("lit"),
        Binding::list("background"),
        Binding::read("pixels"),
        Binding::write("frame"),
        Binding::uniform("encoding"),
    ]
);
pass!(
    COVERAGE,
    "raster.coverage",
    "coverage",
    "main",
    LINE,
    [Binding::list("instances"), Binding::list("items"), Binding::read("pixels"), Binding::write("frame"),]
);

/// All passes.
pub(crate) const ALL: [&Pass; 20] = [
    DEFORM,
    PROJECT,
    PROJECT_PREVIOUS,
    SETUP,
    SETUP_CLIPPED,
    PLAN_CLIPPED,
    PLAN_SETUPS,
    PLAN_LARGE,
    PLAN_ITEMS,
    COUNT_SMALL,
    COUNT_LARGE,
    SCAN,
    FILL_SMALL,
    FILL_LARGE,
    VISIBILITY,
    MASK,
    LAYERS,
    SHADE,
    RESOLVE,
    COVERAGE,
];

/// The features that a pass's text depends on.
pub(crate) fn relevant(pass: &Pass, all: Features) -> Features {
    use feature::*;
    let textures = UV0 | UV1 | TEXTURED_BASE | COLORED | TRILINEAR;
    let data = MOVING | OUT_DEPTH | OUT_NORMAL | OUT_ALBEDO | OUT_ID;
    let (bits, samples, looks) = match pass.stem {
        "setup" => (0, true, false),
        "bin" => (LAYERED, false, false),
        "visibility" | "coverage" => (LAYERED, true, false),
        "layers" => (0, true, false),
        "mask" => (textures, true, false),
        "shade" => (!(LAYERED | OUT_BASE | OUT_COLOR | SRGB8), true, false),
        "resolve" => (LAYERED | data | OUT_BASE | OUT_COLOR | SRGB8, true, true),
        _ => (0, false, false),
    };
    Features {
        bits: all.bits & bits,
        samples: if samples { all.samples } else { 1 },
        tonemap: if looks { all.tonemap } else { 0 },
        background: if looks { all.background } else { 0 },
    }
}
