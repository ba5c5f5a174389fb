//! Any bytes as an upload: the loader answers, whatever they are, within small limits.

#![no_main]

use std::sync::LazyLock;

use isoframe_raster::scene::{Limits, Source, load};
use libfuzzer_sys::fuzz_target;

/// Small, so that a run spends its time on code and not on memory.
static LIMITS: LazyLock<Limits> = LazyLock::new(|| Limits {
    file_bytes: 1 << 20,
    side_bytes: 1 << 20,
    json_bytes: 1 << 18,
    nodes: 10_000,
    accessor_elements: 20_000,
    vertices: 20_000,
    triangles: 20_000,
    drawn_triangles: 1 << 20,
    instances: 10_000,
    geometry_bytes: 4 << 20,
    meshopt_bytes: 1 << 20,
    image_side_px: 256,
    image_pixels: 1 << 16,
    tangent_pairs: 1 << 20,
    ..Limits::default()
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(scene) = Source::from_bytes(bytes, &LIMITS).and_then(|source| load(&source, &LIMITS)) else {
        return;
    };
    // What the passes rely on, of every scene that loads.
    let finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
    for node in &scene.nodes {
        assert!(node.parent.is_none_or(|parent| (parent as usize) < scene.nodes.len()));
        assert!(node.mesh.is_none_or(|mesh| (mesh as usize) < scene.meshes.len()));
        assert!(node.skin.is_none_or(|skin| (skin as usize) < scene.skins.len()));
    }
    for primitive in scene.meshes.iter().flat_map(|mesh| &mesh.primitives) {
        let count = primitive.position.len();
        assert!(primitive.indices.iter().all(|&index| (index as usize) < count));
        assert!((primitive.material as usize) < scene.materials.len());
        for length in [
            primitive.normal.len(),
            primitive.tangent.len(),
            primitive.uv0.len(),
            primitive.uv1.len(),
            primitive.color.len(),
            primitive.joints.len(),
        ] {
            assert!(length == 0 || length == count);
        }
        assert!(finite(primitive.position.as_flattened()));
        assert!(finite(primitive.normal.as_flattened()));
        assert!(finite(primitive.tangent.as_flattened()));
        assert!(finite(primitive.uv0.as_flattened()));
        assert!(finite(primitive.joint_weights.as_flattened()));
        for target in &primitive.targets {
            assert!(target.position.is_empty() || target.position.len() == count);
            assert!(finite(target.position.as_flattened()) && finite(target.normal.as_flattened()));
        }
    }
    for texture in &scene.textures {
        assert!((texture.image as usize) < scene.images.len());
    }
    for channel in scene.animations.iter().flat_map(|animation| &animation.channels) {
        assert!(finite(&channel.times_s) && finite(&channel.values));
    }
});
