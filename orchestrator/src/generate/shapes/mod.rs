//! Shapes, centred on the origin or standing on the plane y = 0, as each says. Closed ones have their front outside.

mod field;
mod lathe;
mod solid;
mod thin;

pub(super) use field::{blob, heightfield, rock, terrain_height};
pub(super) use lathe::{lathe, profile, vessel};
pub(super) use solid::{cuboid, cylinder, extrude, gear, prism, rounded_box, slab, sphere, star, torus};
pub(super) use thin::{blinds, coil, curtain, grille, knot, leaves, meadow, plant, tube, wire};

use glam::DVec3;

use super::mesh::Mesh;

/// A surface over the unit square, its front where ∂u × ∂v points, with normals from differences. `size_m` is the
/// span of its texture coordinates.
pub(super) fn surface(u_count: u32, v_count: u32, size: [f64; 2], point: impl Fn(f64, f64) -> DVec3) -> Mesh {
    let mut mesh = Mesh::default();
    for j in 0..=v_count {
        for i in 0..=u_count {
            let (u, v) = (f64::from(i) / f64::from(u_count), f64::from(j) / f64::from(v_count));
            mesh.position.push(point(u, v));
            mesh.normal.push(normal(&point, u, v));
            mesh.uv.push([u * size[0], v * size[1]]);
        }
    }
    let row = u_count + 1;
    for j in 0..v_count {
        for i in 0..u_count {
            let corner = j * row + i;
            let [a, b, c, d] = [corner, corner + 1, corner + row + 1, corner + row];
            for triangle in [[a, b, c], [a, c, d]] {
                let [p, q, r] = triangle.map(|index| mesh.position[index as usize]);
                // At a pole one side of the cell is a point.
                if (q - p).cross(r - p).length_squared() > 1e-24 {
                    mesh.index.extend(triangle);
                }
            }
        }
    }
    mesh
}

/// The normal of a parametric surface; at a pole, the one a little way from it.
fn normal(point: &impl Fn(f64, f64) -> DVec3, u: f64, v: f64) -> DVec3 {
    const STEP: f64 = 1e-4;
    let middle = 0.5 + (v - 0.5) * (1.0 - 8.0 * STEP);
    for v in [v, middle] {
        let along = point(u + STEP, v) - point(u - STEP, v);
        let up = point(u, v + STEP) - point(u, v - STEP);
        let normal = along.cross(up);
        if normal.length_squared()
            > 1e-9 * along.length_squared().max(up.length_squared()) * up.length_squared()
            && normal.length_squared() > 1e-28
        {
            return normal.normalize();
        }
    }
    DVec3::Y
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::rng::Rng;
    use super::*;

    fn check(name: &str, mesh: &Mesh, closed: bool) {
        assert!(!mesh.index.is_empty(), "{name}");
        assert_eq!(mesh.position.len(), mesh.normal.len(), "{name}");
        assert_eq!(mesh.position.len(), mesh.uv.len(), "{name}");
        for normal in &mesh.normal {
            assert!((normal.length() - 1.0).abs() < 1e-6, "{name}: {normal}");
        }
        let mut against = 0;
        for triangle in mesh.index.chunks_exact(3) {
            let [a, b, c] = [triangle[0], triangle[1], triangle[2]].map(|index| index as usize);
            let face = (mesh.position[b] - mesh.position[a]).cross(mesh.position[c] - mesh.position[a]);
            assert!(face.length() > 0.0, "{name}: a triangle without area");
            let shading: DVec3 = [a, b, c].into_iter().map(|index| mesh.normal[index]).sum();
            against += usize::from(face.dot(shading) < 0.0);
        }
        assert!(against * 200 <= mesh.triangle_count(), "{name}: {against} of {}", mesh.triangle_count());
        if closed {
            assert!(mesh.volume6() > 0.0, "{name} is inside out");
        }
    }

    #[test]
    fn fronts_are_outside_and_normals_agree_with_them() {
        let mut rng = Rng::new(1);
        let rng = &mut rng;
        check("cuboid", &cuboid(DVec3::new(1.0, 2.0, 3.0)), true);
        check("rounded box", &rounded_box(DVec3::new(1.0, 0.4, 0.6), 0.1), true);
        check("slab", &slab(DVec3::ZERO, DVec3::new(1.0, 0.1, 2.0)), true);
        check("sphere", &sphere(0.5, 24), true);
        check("torus", &torus(0.5, 0.1, 32, 12), true);
        check("cylinder", &cylinder(0.2, 1.0, 24), true);
        check("prism", &prism(0.3, 0.2, 6), true);
        check("gear", &extrude(&gear(0.3, 12), 0.1), true);
        check("star", &extrude(&star(0.3, 0.15, 5), 0.1), true);
        check("wire", &wire(&[DVec3::ZERO, DVec3::X, DVec3::ONE], 0.01, 6), true);
        check("coil", &coil(0.2, 0.5, 6, 0.02), true);
        check("knot", &knot(0.3, 0.05, 2, 3), true);
        check("grille", &grille(1.0, 0.6, 8, 0.01), true);
        check("blinds", &blinds(1.0, 0.6, 10, 0.4), true);
        check("blob", &blob(rng, 0.4, 24), true);
        check("rock", &rock(rng, 0.4, 24), true);
        check("vessel", &vessel(rng, 0.3, 24), true);
        check("leaves", &leaves(rng, 0.5, 40, 0.1), false);
        check("meadow", &meadow(rng, 2.0, 50, 0.1), false);
        check("plant", &plant(rng, 0.5, 12), false);
        check("curtain", &curtain(rng, 1.0, 2.0), false);
        check("heightfield", &heightfield(10.0, 20, |x, z| terrain_height(3, 1.0, x, z)), false);
        check("lathe", &lathe(&[[0.0, 0.0], [0.3, 0.0], [0.2, 0.5], [0.0, 0.5]], 16, false), true);
    }
}
