//! From within closed meshes no ray escapes, however exactly it is aimed at what neighbours share.

use fearless_simd::{Level, dispatch};
use isoframe_raster::accel::{MeshTree, Stack};
use isoframe_raster::passes::ray::T_MAX;
use isoframe_raster::passes::vector::Vector;

use super::{Random, difference, vertices};

/// Rays of a mesh.
const RAYS: usize = 1_000_000;

/// A closed mesh.
#[derive(Clone)]
struct Closed {
    positions: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
}

impl Closed {
    fn octahedron() -> Closed {
        let axis = |k: usize, v: f32| std::array::from_fn(|c| if c == k { v } else { 0.0 });
        let positions = (0..3).flat_map(|k| [axis(k, 1.0), axis(k, -1.0)]).collect();
        let triangles =
            vec![[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
        Closed { positions, triangles }
    }

    fn icosahedron() -> Closed {
        let g = 1.618_034;
        let positions = vec![
            [-1.0, g, 0.0],
            [1.0, g, 0.0],
            [-1.0, -g, 0.0],
            [1.0, -g, 0.0],
            [0.0, -1.0, g],
            [0.0, 1.0, g],
            [0.0, -1.0, -g],
            [0.0, 1.0, -g],
            [g, 0.0, -1.0],
            [g, 0.0, 1.0],
            [-g, 0.0, -1.0],
            [-g, 0.0, 1.0],
        ];
        let triangles = vec![
            [0, 11, 5],
            [0, 5, 1],
            [0, 1, 7],
            [0, 7, 10],
            [0, 10, 11],
            [1, 5, 9],
            [5, 11, 4],
            [11, 10, 2],
            [10, 7, 6],
            [7, 1, 8],
            [3, 9, 4],
            [3, 4, 2],
            [3, 2, 6],
            [3, 6, 8],
            [3, 8, 9],
            [4, 9, 5],
            [2, 4, 11],
            [6, 2, 10],
            [8, 6, 7],
            [9, 8, 1],
        ];
        Closed { positions, triangles }
    }

    fn cube() -> Closed {
        let corner = |k: usize| std::array::from_fn(|axis| if k >> axis & 1 == 0 { -1.0 } else { 1.0 });
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
        Closed { positions: (0..8).map(corner).collect(), triangles }
    }

    /// Each triangle in four; vertices in the middle of edges, moved by `place`.
    fn subdivided(mut self, place: impl Fn([f32; 3]) -> [f32; 3]) -> Closed {
        let mut middles = std::collections::BTreeMap::new();
        let mut triangles = Vec::new();
        for t in &self.triangles {
            let mut middle = |a: u32, b: u32| {
                *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                    let [p, q] = [self.positions[a as usize], self.positions[b as usize]];
                    self.positions.push(place(std::array::from_fn(|k| 0.5 * (p[k] + q[k]))));
                    self.positions.len() as u32 - 1
                })
            };
            let [a, b, c] = *t;
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        Closed { triangles, ..self }
    }

    fn jittered(mut self, random: &mut Random, by: f32) -> Closed {
        for p in &mut self.positions {
            let beside = random.point(by);
            *p = std::array::from_fn(|k| p[k] + beside[k]);
        }
        self
    }

    fn scaled(mut self, by: f32) -> Closed {
        self.positions.iter_mut().flatten().for_each(|v| *v *= by);
        self
    }

    fn moved(mut self, by: [f32; 3]) -> Closed {
        self.positions.iter_mut().for_each(|p| *p = std::array::from_fn(|k| p[k] + by[k]));
        self
    }
}

fn on_sphere(p: [f32; 3]) -> [f32; 3] {
    let length = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt();
    p.map(|v| v / length)
}

/// A point of a vertex or of an edge.
fn target(random: &mut Random, mesh: &Closed) -> [f32; 3] {
    let t = mesh.triangles[random.below(mesh.triangles.len())];
    let first = random.below(3);
    let [a, b] = [t[first], t[(first + 1) % 3]].map(|k| mesh.positions[k as usize]);
    let weight = [0.0, 0.5, random.between(0.0, 1.0)][random.below(3)];
    std::array::from_fn(|k| a[k] + weight * (b[k] - a[k]))
}

/// Sends rays from around `center` to vertices and edges, and along axes.
fn check(name: &str, mesh: &Closed, center: [f32; 3], room: f32) {
    let indices: Vec<u32> = mesh.triangles.iter().flatten().copied().collect();
    let tree = MeshTree::new(&vertices(&mesh.positions), &indices);
    let random = &mut Random(11);
    let mut stack = Stack::default();
    let escaped = dispatch!(Level::new(), simd => {
        let mut escaped = Vec::new();
        for _ in 0..RAYS {
            let beside = random.point(room);
            // The centre itself now and then: aligned with what is built around it.
            let aligned = random.below(8) == 0;
            let origin: [f32; 3] =
                if aligned { center } else { std::array::from_fn(|k| center[k] + beside[k]) };
            let mut direction = difference(target(random, mesh), origin);
            if random.below(16) == 0 {
                direction[random.below(3)] = 0.0;
            }
            if direction == [0.0; 3] {
                continue;
            }
            let mut met = false;
            let (origin, direction) = (Vector::new(origin), Vector::new(direction));
            tree.meet(simd, origin, direction, T_MAX, &mut stack, |_, _, _, _| {
                met = true;
                0.0
            });
            if !met {
                escaped.push((origin, direction));
            }
        }
        escaped
    });
    assert!(escaped.is_empty(), "{name}: {} of {RAYS} rays escape, {:?}", escaped.len(), escaped.first());
}

#[test]
fn nothing_escapes_from_spheres() {
    let mut ball = Closed::icosahedron();
    ball.positions.iter_mut().for_each(|p| *p = on_sphere(*p));
    for _ in 0..4 {
        ball = ball.subdivided(on_sphere);
    }
    check("a sphere", &ball, [0.0; 3], 0.5);
    check("a jittered sphere", &ball.clone().jittered(&mut Random(3), 0.01), [0.0; 3], 0.5);
    let away = [1000.0, -777.0, 55.5];
    check("a sphere far away", &ball.moved(away), away, 0.5);
}

#[test]
fn nothing_escapes_from_cubes_and_octahedra() {
    let mut cube = Closed::cube();
    let mut octahedron = Closed::octahedron();
    for _ in 0..4 {
        cube = cube.subdivided(|p| p);
        octahedron = octahedron.subdivided(|p| p);
    }
    check("a cube", &cube, [0.0; 3], 0.9);
    check("a jittered cube", &cube.clone().jittered(&mut Random(4), 0.03), [0.0; 3], 0.5);
    check("a cube of 1e7", &cube.clone().scaled(1e7), [0.0; 3], 5e6);
    check("a cube of 1e-6", &cube.scaled(1e-6), [0.0; 3], 5e-7);
    check("an octahedron", &octahedron, [0.0; 3], 0.25);
}
