//! What host and shaders must agree on: uniforms, list layouts, numbers.

use std::mem::offset_of;

use bytemuck::{Pod, Zeroable};

use super::deform::{JOINTS, SOURCE_PARTS, TARGET_PARTS};
use super::device::WORKGROUP_INVOCATIONS;
use super::shader::Constant;
use super::trees::{LeafTriangle, Placement};
use crate::accel::{self, Node};
use crate::draw::{Instance, PackedLight, background_kind, instance_flags, light_kind};
use crate::environment::{DFG_SIDE, LEVELS, OCTAHEDRAL_SIDE, dfg_table, sheen_table};
use crate::exact;
use crate::frame::{COVERAGE_OWNERS, IdCoverage, PX_PER_OFFSET, sample_offsets_px16};
use crate::image::srgb::{LINEAR_TO_SRGB8_THRESHOLDS, SRGB8_TO_LINEAR};
use crate::passes::project::{self, ClipVertex, mode, outcode};
use crate::passes::{hit, light, microfacet, ray, resolve, surface, texture, tonemap};
use crate::prepared::{PackedMaterial, Vertex, material_flags, texture_flags, wrap_code};

/// Elements in a row of a texture that holds a list.
pub(crate) const LIST_WIDTH: u32 = 2048;
/// Texels in a row of the texture that holds all texels.
pub(crate) const TEXELS_WIDTH: u32 = 8192;
/// Rows in a layer of it: 16 MiB, so that little is left over.
pub(crate) const TEXELS_ROWS: u32 = 512;
/// Most layers of it: 768 MiB, below the 1 GiB that any Vulkan driver allocates at once, with what it pads.
pub const TEXELS_LAYERS_MAX: u32 = 48;
/// Rows of any texture.
pub(crate) const ROWS_MAX: u32 = 8192;
/// Workgroups in a row of a folded dispatch.
pub(crate) const DISPATCH_WIDTH: u32 = 32768;
/// Triangles that touch more tiles than this are binned by a whole workgroup.
const LARGE_TILES: u32 = 64;
/// Side of a tile. *Units*: pixels.
pub(crate) const TILE: u32 = 8;
/// Invocations of a workgroup that works on a line of things, or on the pixels of a tile.
pub(crate) const WORKGROUP: u32 = TILE * TILE;
/// Numbers that a triangle's pieces get: the global triangle times this and the piece.
pub(crate) const PIECES: u32 = 8;
/// Elements of a projected vertex.
pub(crate) const CLIP_PARTS: u32 = part(size_of::<ClipVertex>());
/// Elements of a set-up triangle.
pub(crate) const SETUP_PARTS: u32 = 4;
/// Bit of an item that the data outputs show.
const ITEM_FIRST: u32 = 1 << 24;
/// Bit of an item that is blended over what lies behind.
const ITEM_LAYER: u32 = 1 << 25;
/// Words of one owner of a pixel in the coverage.
pub(crate) const OWNER_WORDS: u32 = (size_of::<IdCoverage>() / 4) as u32;
/// Words of a pixel in the coverage.
pub(crate) const COVERAGE_WORDS: u32 = OWNER_WORDS * COVERAGE_OWNERS as u32;
/// Elements of a node of a tree.
pub(crate) const NODE_PARTS: u32 = part(size_of::<Node>());
/// Elements of a triangle of a leaf.
pub(crate) const TRIANGLE_PARTS: u32 = part(size_of::<LeafTriangle>());
/// Nodes yet to be visited: as many as a path has, in both levels.
const TREE_STACK: u32 = 2 * accel::DEPTH_MAX as u32;
// No list holds as many triangles as make a deeper tree.
const _: () = assert!(LIST_WIDTH * (ROWS_MAX / TRIANGLE_PARTS) <= 1 << 24);
/// Bytes of an element.
const PART: usize = 16;

/// What changes from band to band. Twin: `Band` in `shaders/frame.wgsl`, a uniform.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub(crate) struct Band {
    pub instance_count: u32,
    pub clip_vertex_count: u32,
    pub triangle_count: u32,
    /// Tiles above the band.
    pub first_tile_row: u32,
    pub tiles_x: u32,
    pub tiles_y: u32,
    pub setup_capacity: u32,
    pub pair_capacity: u32,
    pub item_capacity: u32,
    pub clipped_capacity: u32,
    pub large_capacity: u32,
    /// Depth key that a sample must be above to be drawn.
    pub key_far: f32,
    /// First words of the outputs in the band's buffer.
    pub color_at: u32,
    pub base_at: u32,
    pub depth_at: u32,
    pub motion_at: u32,
    pub normal_at: u32,
    pub albedo_at: u32,
    pub id_at: u32,
    pub coverage_at: u32,
    pub reflectance_at: u32,
    pub emission_at: u32,
    /// Vertices between a deformed vertex and its previous self.
    pub deformed_count: u32,
    /// Root of the tree over instances, in the list of nodes.
    pub first_tree_node: u32,
    /// Most nodes that a ray can visit.
    pub visits_max: u32,
    /// Row of the image that the lists of guides and of traced light begin with.
    pub first_guide_row: u32,
    pub padding: [u32; 2],
}

/// What lists hold, or would hold. Twin: `Counters` in `shaders/counters.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Counters {
    pub setups: u32,
    pub clipped: u32,
    pub large: u32,
    pub items: u32,
    pub pairs: u32,
    pub active_tiles: u32,
    pub blank_tiles: u32,
    pub padding: u32,
}

/// Words of [`SRGB8_GUESSES`](exact::srgb8_guesses) over four.
const SRGB8_GUESS_VECTORS: usize = 105;

/// Tables of the sRGB8 encoding. Twin: `Encoding` in `shaders/resolve.wgsl`, a uniform.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct Encoding {
    pub thresholds: [[f32; 4]; 64],
    pub guesses: [[u32; 4]; SRGB8_GUESS_VECTORS],
}

impl Encoding {
    /// The tables.
    pub fn new() -> Encoding {
        let mut encoding = Encoding::zeroed();
        for (code, threshold) in LINEAR_TO_SRGB8_THRESHOLDS.iter().enumerate() {
            encoding.thresholds[code / 4][code % 4] = *threshold;
        }
        for (bucket, code) in exact::srgb8_guesses().iter().enumerate() {
            encoding.guesses[bucket / 16][bucket / 4 % 4] |= u32::from(*code) << (8 * (bucket % 4));
        }
        encoding
    }
}

/// The sRGB8 decoding table as a uniform.
pub(crate) fn srgb_table() -> [[f32; 4]; 64] {
    std::array::from_fn(|k| std::array::from_fn(|j| SRGB8_TO_LINEAR[k * 4 + j]))
}

/// Room for lights, then the tables of albedos; the environment follows.
pub(crate) fn albedo_tables() -> Vec<[f32; 4]> {
    let mut parts = vec![[0.0; 4]; TABLE_DFG as usize];
    parts.extend(dfg_pairs(dfg_table()));
    parts.extend(sheen_quads(sheen_table()));
    parts
}

/// The split-sum table: each entry with its right neighbour.
fn dfg_pairs(dfg: &[[f32; 2]]) -> impl Iterator<Item = [f32; 4]> + '_ {
    (0..dfg.len()).map(|k| {
        let (a, b) = (dfg[k], dfg[(k + 1).min(dfg.len() - 1)]);
        [a[0], a[1], b[0], b[1]]
    })
}

/// The table of sheen: each entry with its right neighbour and those of the next row.
fn sheen_quads(sheen: &[f32]) -> impl Iterator<Item = [f32; 4]> + '_ {
    let at = |k: usize| sheen[k.min(sheen.len() - 1)];
    let row = DFG_SIDE as usize;
    (0..sheen.len()).map(move |k| [at(k), at(k + 1), at(k + row), at(k + row + 1)])
}

/// Lights come first in the table of lights, split sum, sheen and environment.
pub(crate) const TABLE_DFG: u32 = crate::draw::LIGHTS_MAX as u32 * (size_of::<PackedLight>() / PART) as u32;
/// Where the albedo of sheen begins.
pub(crate) const TABLE_SHEEN: u32 = TABLE_DFG + DFG_SIDE * DFG_SIDE;
/// Where the environment begins.
pub(crate) const TABLE_SPECULAR: u32 = TABLE_SHEEN + DFG_SIDE * DFG_SIDE;

pub(super) const fn part(offset: usize) -> u32 {
    assert!(offset.is_multiple_of(PART));
    (offset / PART) as u32
}

/// Numbers of all passes.
pub(crate) fn constants() -> Vec<Constant> {
    let mut all = super::shader::exact_constants();
    all.extend(list_constants());
    all.extend(flag_constants());
    all.extend(number_constants());
    all.extend(super::lobes::constants());
    all.extend(super::traced::constants());
    all
}

fn list_constants() -> Vec<Constant> {
    [
        ("NOTHING", u32::MAX),
        ("POINT_CENTRE", 255),
        ("ITEM_FIRST", ITEM_FIRST),
        ("ITEM_LAYER", ITEM_LAYER),
        ("LIST_WIDTH", LIST_WIDTH),
        ("TEXELS_WIDTH", TEXELS_WIDTH),
        ("TEXELS_ROWS", TEXELS_ROWS),
        ("DISPATCH_WIDTH", DISPATCH_WIDTH),
        ("LARGE_TILES", LARGE_TILES),
        ("TILE", TILE),
        ("WORKGROUP", WORKGROUP),
        ("SCAN_WORKGROUP", WORKGROUP_INVOCATIONS),
        ("PIECES", PIECES),
        ("CLIP_PARTS", CLIP_PARTS),
        ("SETUP_PARTS", SETUP_PARTS),
        ("COVERAGE_OWNERS", COVERAGE_OWNERS as u32),
        ("OWNER_WORDS", OWNER_WORDS),
        ("COVERAGE_WORDS", COVERAGE_WORDS),
        ("VERTEX_PARTS", part(size_of::<Vertex>())),
        ("INSTANCE_PARTS", part(size_of::<Instance>())),
        ("INSTANCE_CLIP_FROM_LOCAL", part(offset_of!(Instance, clip_from_local))),
        ("INSTANCE_PREVIOUS_CLIP_FROM_LOCAL", part(offset_of!(Instance, previous_clip_from_local))),
        ("INSTANCE_EYE_FROM_LOCAL", part(offset_of!(Instance, eye_from_local))),
        ("INSTANCE_NORMAL_FROM_LOCAL", part(offset_of!(Instance, normal_from_local))),
        ("INSTANCE_FIRST_VERTEX", part(offset_of!(Instance, first_vertex))),
        ("INSTANCE_FIRST_TRIANGLE", part(offset_of!(Instance, first_triangle))),
        ("INSTANCE_PRIMITIVE_ID", part(offset_of!(Instance, primitive_id))),
        ("MATERIAL_PARTS", part(size_of::<PackedMaterial>())),
        ("MATERIAL_BASE_COLOR", part(offset_of!(PackedMaterial, base_color))),
        ("MATERIAL_EMISSIVE", part(offset_of!(PackedMaterial, emissive))),
        ("MATERIAL_METALLIC", part(offset_of!(PackedMaterial, metallic))),
        ("MATERIAL_FLAGS", part(offset_of!(PackedMaterial, flags))),
        ("MATERIAL_BASE_COLOR_TEXTURE", part(offset_of!(PackedMaterial, base_color_texture))),
        ("MATERIAL_METALLIC_ROUGHNESS_TEXTURE", part(offset_of!(PackedMaterial, metallic_roughness_texture))),
        ("MATERIAL_NORMAL_TEXTURE", part(offset_of!(PackedMaterial, normal_texture))),
        ("MATERIAL_OCCLUSION_TEXTURE", part(offset_of!(PackedMaterial, occlusion_texture))),
        ("MATERIAL_EMISSIVE_TEXTURE", part(offset_of!(PackedMaterial, emissive_texture))),
        ("NODE_PARTS", NODE_PARTS),
        ("TRIANGLE_PARTS", TRIANGLE_PARTS),
        ("PLACEMENT_PARTS", part(size_of::<Placement>())),
        ("TREE_STACK", TREE_STACK),
        ("NO_TRIANGLE", ray::NO_TRIANGLE),
        ("OFFSET_EXPONENT", ray::OFFSET_EXPONENT),
        ("OFFSET_EXPONENT_MIN", ray::OFFSET_EXPONENT_MIN),
        ("LIGHT_PARTS", part(size_of::<PackedLight>())),
        ("LIGHT_DIRECTIONAL", light_kind::DIRECTIONAL),
        ("LIGHT_SPOT", light_kind::SPOT),
        ("TABLE_DFG", TABLE_DFG),
        ("TABLE_SHEEN", TABLE_SHEEN),
        ("TABLE_SPECULAR", TABLE_SPECULAR),
        ("DFG_SIDE", DFG_SIDE),
        ("OCTAHEDRAL_SIDE", OCTAHEDRAL_SIDE),
        ("PLAN_CLIPPED", PLAN_CLIPPED),
        ("PLAN_SETUP", PLAN_SETUP),
        ("PLAN_LARGE", PLAN_LARGE),
        ("PLAN_ITEM", PLAN_ITEM),
        ("PLAN_ACTIVE", PLAN_ACTIVE),
        ("PLAN_ACTIVE_STRIPS", PLAN_ACTIVE_STRIPS),
        ("PLAN_BLANK", PLAN_BLANK),
        ("PLANS", PLANS),
        ("SOURCE_PARTS", SOURCE_PARTS),
        ("TARGET_PARTS", TARGET_PARTS),
        ("JOINTS", JOINTS),
        ("SRGB8_GUESS_VECTORS", SRGB8_GUESS_VECTORS as u32),
        ("SRGB8_GUESS_FROM", exact::SRGB8_GUESS_FROM),
        ("SRGB8_GUESS_SHIFT", exact::SRGB8_GUESS_SHIFT),
        ("LAYERS_MAX", resolve::LAYERS_MAX as u32),
    ]
    .map(|(name, value)| Constant::U32(name, value))
    .to_vec()
}

/// Places of the dispatch sizes that the device finds itself.
pub(crate) const PLAN_CLIPPED: u32 = 0;
pub(crate) const PLAN_SETUP: u32 = 1;
pub(crate) const PLAN_LARGE: u32 = 2;
pub(crate) const PLAN_ITEM: u32 = 3;
pub(crate) const PLAN_ACTIVE: u32 = 4;
pub(crate) const PLAN_ACTIVE_STRIPS: u32 = 5;
pub(crate) const PLAN_BLANK: u32 = 6;
/// How many there are.
pub(crate) const PLANS: u32 = 7;

fn flag_constants() -> Vec<Constant> {
    [
        ("INSTANCE_MIRRORED", instance_flags::MIRRORED),
        ("INSTANCE_LINES", instance_flags::LINES),
        ("INSTANCE_POINTS", instance_flags::POINTS),
        ("INSTANCE_DEFORMED", instance_flags::DEFORMED),
        ("INSTANCE_UNLIT", instance_flags::UNLIT),
        ("INSTANCE_COLORED", instance_flags::COLORED),
        ("MATERIAL_MASK", material_flags::MASK),
        ("MATERIAL_BLEND", material_flags::BLEND),
        ("MATERIAL_DOUBLE_SIDED", material_flags::DOUBLE_SIDED),
        ("MATERIAL_UNLIT", material_flags::UNLIT),
        ("TEXTURE_MAG_LINEAR", texture_flags::MAG_LINEAR),
        ("TEXTURE_MIN_LINEAR", texture_flags::MIN_LINEAR),
        ("TEXTURE_MIPS", texture_flags::MIPS),
        ("TEXTURE_MIP_LINEAR", texture_flags::MIP_LINEAR),
        ("TEXTURE_WRAP_U_SHIFT", texture_flags::WRAP_U_SHIFT),
        ("TEXTURE_WRAP_V_SHIFT", texture_flags::WRAP_V_SHIFT),
        ("TEXTURE_WRAP_MASK", texture_flags::WRAP_MASK),
        ("WRAP_REPEAT", wrap_code::REPEAT),
        ("WRAP_MIRROR", wrap_code::MIRROR),
        ("OUTCODE_NEAR", outcode::NEAR),
        ("OUTCODE_FAR", outcode::FAR),
        ("OUTCODE_LEFT", outcode::LEFT),
        ("OUTCODE_RIGHT", outcode::RIGHT),
        ("OUTCODE_TOP", outcode::TOP),
        ("OUTCODE_BOTTOM", outcode::BOTTOM),
        ("OUTCODE_WIDE", outcode::WIDE),
        ("MODE_OPAQUE", mode::OPAQUE),
        ("MODE_MASK", mode::MASK),
        ("MODE_BLEND", mode::BLEND),
        ("TONEMAP_NEUTRAL", tonemap::curve::NEUTRAL),
        ("TONEMAP_ACES", tonemap::curve::ACES),
        ("BACKGROUND_CONSTANT", background_kind::CONSTANT),
        ("BACKGROUND_ENVIRONMENT", background_kind::ENVIRONMENT),
    ]
    .map(|(name, value)| Constant::U32(name, value))
    .to_vec()
}

fn number_constants() -> Vec<Constant> {
    let [i0, i1, i2] = tonemap::ACES_INPUT;
    let [o0, o1, o2] = tonemap::ACES_OUTPUT;
    let [a, b, c, d, e] = tonemap::ACES_CURVE;
    let mut all = vec![
        Constant::I32("SUBPIXELS", project::SUBPIXELS),
        // A tile's side and its last sample's offset. *Units*: 1/16 pixel.
        Constant::I32("TILE_STEP", 16 * TILE as i32),
        Constant::I32("TILE_LAST", 16 * TILE as i32 - 1),
        Constant::F32x3("ACES_INPUT_0", [i0[0], i0[1], i0[2]]),
        Constant::F32x3("ACES_INPUT_1", [i1[0], i1[1], i1[2]]),
        Constant::F32x3("ACES_INPUT_2", [i2[0], i2[1], i2[2]]),
        Constant::F32x3("ACES_OUTPUT_0", [o0[0], o0[1], o0[2]]),
        Constant::F32x3("ACES_OUTPUT_1", [o1[0], o1[1], o1[2]]),
        Constant::F32x3("ACES_OUTPUT_2", [o2[0], o2[1], o2[2]]),
    ];
    all.extend(
        [
            ("SUBPIXELS_F32", project::SUBPIXELS as f32),
            ("GUARD_PX", project::GUARD_PX),
            ("CLIP_FLUSH_BELOW", project::CLIP_FLUSH_BELOW),
            ("UV_MAX", texture::UV_MAX),
            ("INVERSE_255", texture::INVERSE_255),
            ("INVERSE_65535", surface::INVERSE_65535),
            ("T_MIN", ray::T_MIN),
            ("T_MAX", ray::T_MAX),
            ("SHADOW_ALPHA", hit::SHADOW_ALPHA),
            ("BOX_SLACK", accel::BOX_SLACK),
            ("BOX_FARTHER", accel::BOX_FARTHER),
            ("BOX_DIRECTION_MIN", accel::BOX_DIRECTION_MIN),
            ("FRESNEL_MEAN", light::FRESNEL_MEAN),
            ("INVERSE_PI", light::INVERSE_PI),
            ("RADIANCE_MAX", light::RADIANCE_MAX),
            ("ROUGHNESS_MIN", light::ROUGHNESS_MIN),
            ("NOV_MIN", light::NOV_MIN),
            ("DISTANCE2_MIN", light::DISTANCE2_MIN),
            ("DIELECTRIC_F0", light::DIELECTRIC_F0),
            ("DIVISOR_MIN", microfacet::DIVISOR_MIN),
            ("DIVISOR_MIN_SQUARED", microfacet::DIVISOR_MIN * microfacet::DIVISOR_MIN),
            ("DFG_SIDE_F32", DFG_SIDE as f32),
            ("LAST_LEVEL_F32", (LEVELS - 1) as f32),
            ("PX_PER_OFFSET", PX_PER_OFFSET),
            ("EXACT_INTEGERS", exact::EXACT_INTEGERS),
            ("MOTION_W_MIN", surface::MOTION_W_MIN),
            ("NEUTRAL_OFFSET", tonemap::NEUTRAL_OFFSET),
            ("NEUTRAL_TOE", tonemap::NEUTRAL_TOE),
            ("NEUTRAL_TOE_SQUARED", tonemap::NEUTRAL_TOE_SQUARED),
            ("NEUTRAL_START", tonemap::NEUTRAL_START),
            ("NEUTRAL_DESATURATION", tonemap::NEUTRAL_DESATURATION),
            ("NEUTRAL_PEAK_OFFSET", tonemap::NEUTRAL_PEAK_OFFSET),
            ("NEUTRAL_PEAK_SCALE", tonemap::NEUTRAL_PEAK_SCALE),
            ("ACES_MAX", tonemap::ACES_MAX),
            ("ACES_A", a),
            ("ACES_B", b),
            ("ACES_C", c),
            ("ACES_D", d),
            ("ACES_E", e),
        ]
        .map(|(name, value)| Constant::F32(name, value)),
    );
    all
}

/// Numbers of the coverage samples.
pub(crate) fn sample_constants(samples: u32) -> Vec<Constant> {
    // Pixels that an invocation of `visibility` keeps in registers, so that their samples are at most 32.
    let strip = (32 / samples).min(TILE);
    let (pitch, first) = project::sample_grid(samples);
    let mut all = vec![
        Constant::U32("SAMPLES", samples),
        Constant::U32("STRIP", strip),
        Constant::U32("STATES", strip * samples),
        Constant::U32("LANES", WORKGROUP / strip),
        Constant::F32("SAMPLE_SHARE", 1.0 / samples as f32),
        Constant::I32("SAMPLE_PITCH", pitch),
        Constant::I32("SAMPLE_FIRST", first),
    ];
    for (k, [x, y]) in sample_offsets_px16(samples).iter().enumerate() {
        all.push(Constant::Numbered("SAMPLE_X", k, *x));
        all.push(Constant::Numbered("SAMPLE_Y", k, *y));
    }
    all
}
