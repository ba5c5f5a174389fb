//! A small scene to render over and over.

use std::sync::Arc;

use isoframe_raster::prepared::Prepared;
use isoframe_raster::scene::{Material, Mesh, Node, Primitive, Scene};

/// Two slanted triangles, this far away, and the default material.
pub fn scene(z: f32) -> Prepared {
    let primitive = Primitive {
        position: vec![[-1.0, -1.0, z], [1.0, -0.9, z + 0.3], [0.9, 1.0, z], [-1.0, 0.8, z - 0.4]],
        normal: vec![[0.0, 0.0, 1.0]; 4],
        indices: vec![0, 1, 2, 0, 2, 3],
        ..Primitive::default()
    };
    Prepared::new(Arc::new(Scene {
        nodes: vec![Node { mesh: Some(0), visible: true, ..Node::default() }],
        meshes: vec![Mesh { primitives: vec![primitive], ..Mesh::default() }],
        materials: vec![Material::default()],
        ..Scene::default()
    }))
}
