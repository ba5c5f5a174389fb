//! The structure against all triangles, bit for bit.

use std::collections::BTreeMap;
use std::sync::Arc;

use fearless_simd::{Level, dispatch};
use isoframe_raster::accel::{
    BOX_DIRECTION_MIN, BOX_FARTHER, BOX_SLACK, Box3, Hit, MeshTree, Query, SceneTree, Stack, Tree, build,
};
use isoframe_raster::draw::DrawList;
use isoframe_raster::environment::Environment;
use isoframe_raster::exact::recip;
use isoframe_raster::frame::{CameraChoice, ColorFormat, FrameRequest, ProjectionChoice};
use isoframe_raster::passes::ray::{NO_TRIANGLE, T_MAX};
use isoframe_raster::passes::vector::Vector;
use isoframe_raster::prepared::Prepared;
use isoframe_raster::scene::{AlphaMode, Material, Mesh, Node, Primitive, Scene, Transform, Trs};

use super::{Corners, Random, difference, meet, vertices};

/// Rays of a case.
const RAYS: usize = 3000;

fn primitive(triangles: &[Corners], material: u32) -> Primitive {
    let position: Vec<_> = triangles.iter().flatten().copied().collect();
    Primitive {
        material,
        indices: (0..position.len() as u32).collect(),
        normal: vec![[0.0, 0.0, 1.0]; position.len()],
        position,
        ..Primitive::default()
    }
}

fn soup(random: &mut Random, count: usize, extent: f32, size: f32) -> Vec<Corners> {
    (0..count)
        .map(|_| {
            let at = random.point(extent);
            std::array::from_fn(|_| {
                let beside = random.point(size);
                std::array::from_fn(|k| at[k] + beside[k])
            })
        })
        .collect()
}

/// Thin, collapsed and repeated triangles.
fn needles(random: &mut Random) -> Vec<Corners> {
    let mut all = Vec::new();
    for k in 0..60 {
        let [a, b] = [random.point(1.0), random.point(1.0)];
        let beside = 1e-6 * k as f32;
        all.push([a, b, std::array::from_fn(|axis| b[axis] + beside)]);
        all.push([a, b, std::array::from_fn(|axis| 0.5 * (a[axis] + b[axis]))]);
        all.push([a, a, b]);
        all.push([a, b, random.point(1.0)]);
    }
    all
}

/// A grid in one plane, each triangle three times: every hit is a tie.
fn duplicates() -> Vec<Corners> {
    let corner = |x: usize, y: usize| [x as f32 * 0.25 - 1.0, y as f32 * 0.25 - 1.0, 0.125];
    let mut all = Vec::new();
    for (y, x) in (0..8).flat_map(|y| (0..8).map(move |x| (y, x))) {
        let [a, b, c, d] = [corner(x, y), corner(x + 1, y), corner(x + 1, y + 1), corner(x, y + 1)];
        all.extend([[a, b, c], [a, c, d], [a, b, c], [c, d, a], [b, c, a]]);
    }
    all
}

fn trs(translation: [f32; 3], rotation: [f32; 4], scale: [f32; 3]) -> Transform {
    Transform::Trs(Trs { translation, rotation, scale })
}

/// Where meshes are put: turned, scaled, mirrored, flattened, sheared, far away.
fn transforms() -> Vec<Transform> {
    const TURN: [f32; 4] = [0.48, -0.36, 0.48, 0.64];
    let plain = [0.0, 0.0, 0.0, 1.0];
    vec![
        trs([0.0; 3], plain, [1.0; 3]),
        trs([2.0, -1.0, 0.5], TURN, [1.0; 3]),
        trs([-2.0, 0.3, 0.1], TURN, [2.0, 0.4, 0.05]),
        trs([0.0, 2.0, 1.0], plain, [-1.0, 1.0, 1.0]),
        trs([0.5, -2.0, 1.0], TURN, [-1.0, -0.7, -3.0]),
        trs([0.0, 0.0, -2.0], TURN, [1.0, 0.0, 1.0]),
        trs([1.0, 0.0, 2.0], plain, [1.0, 1.0, 1e-9]),
        trs([40.0, -30.0, 20.0], TURN, [1e-3; 3]),
        trs([0.0, 0.0, 0.0], TURN, [30.0; 3]),
        // Shears its mesh to a three-hundredth.
        Transform::Matrix([
            1.0, 0.5, 0.0, 0.0, 2.0, 1.003, 0.0, 0.0, 0.3, 0.0, 1.0, 0.0, 0.4, -0.2, 0.6, 1.0,
        ]),
    ]
}

/// What a test asks about.
struct Case {
    prepared: Prepared,
    list: DrawList,
    tree: SceneTree,
    /// Corners in mesh space by instance.
    corners: Vec<Vec<Corners>>,
}

impl Case {
    fn new(meshes: &[Vec<Corners>], transforms: &[Transform], extent: f32) -> Case {
        let scaled = |m: &Transform| match *m {
            Transform::Trs(Trs { translation, rotation, scale }) => {
                trs(translation.map(|v| v * extent), rotation, scale)
            }
            Transform::Matrix(mut m) => {
                m[12..15].iter_mut().for_each(|v| *v *= extent);
                Transform::Matrix(m)
            }
        };
        let mut scene = Scene {
            materials: vec![
                Material::default(),
                Material { alpha_mode: AlphaMode::Mask { cutoff: 0.5 }, ..Material::default() },
                Material::default(),
            ],
            ..Scene::default()
        };
        for (k, triangles) in meshes.iter().enumerate() {
            let triangles: Vec<Corners> =
                triangles.iter().map(|t| t.map(|c| c.map(|v| v * extent))).collect();
            let primitives = vec![primitive(&triangles, k as u32 % 2)];
            scene.meshes.push(Mesh { primitives, ..Mesh::default() });
            for local in transforms {
                let local = scaled(local);
                scene.nodes.push(Node { mesh: Some(k as u32), local, visible: true, ..Node::default() });
            }
        }
        let prepared = Prepared::new(Arc::new(scene));
        let [x, y, z] = [0.3, 0.1, 4.0].map(|v: f64| v * f64::from(extent));
        let camera = CameraChoice::Matrix {
            world_from_view: [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, z, 1.0],
            projection: ProjectionChoice::Perspective {
                yfov_rad: 0.9,
                znear: Some(0.01 * f64::from(extent)),
                zfar: None,
            },
        };
        let request = FrameRequest { camera, ..FrameRequest::default() };
        let list = DrawList::new(&prepared, &Environment::studio(), &request, ColorFormat::Linear)
            .expect("a draw list");
        let tree = SceneTree::new(&prepared, &list, |instance| instance.vertices(&prepared.vertices, &[]));
        let corners = tree.placed.iter().map(|placed| {
            let instance = &list.instances[placed.instance as usize];
            let vertices = instance.vertices(&prepared.vertices, &[]);
            let indices = &prepared.indices[instance.first_index as usize..];
            let corner = |&k: &u32| {
                let p = Vector::new(vertices[k as usize].position);
                // What has no way back is met in eye space.
                if placed.at_rest { p.array() } else { p.transform_point(&instance.eye_from_local).array() }
            };
            indices[..3 * instance.triangle_count as usize]
                .chunks_exact(3)
                .map(|t| std::array::from_fn(|k| corner(&t[k])))
                .collect()
        });
        let corners = corners.collect();
        Case { corners, prepared, list, tree }
    }

    /// Every triangle, one by one.
    fn brute(&self, query: &Query) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        for (placed, corners) in self.tree.placed.iter().zip(&self.corners) {
            let origin = query.origin.transform_point(&placed.local_from_eye).array();
            let direction = query.direction.transform_vector(&placed.local_from_eye).array();
            for (triangle, corners) in (placed.first_triangle..).zip(corners) {
                let Some((t, weights)) = meet(origin, direction, corners) else { continue };
                let hit = Hit { t, instance: placed.instance, triangle, weights };
                let nearer = best.is_none_or(|b| t < b.t || t == b.t && triangle < b.triangle);
                let counts = t <= query.t_max && triangle != query.skip;
                if counts && nearer && (placed.opaque || accepts(&hit)) {
                    best = Some(hit);
                }
            }
        }
        best
    }

    fn trace(&self, query: &Query, stack: &mut Stack) -> Option<Hit> {
        dispatch!(Level::new(), simd => self.tree.trace(simd, query, stack, &accepts))
    }

    /// A ray worth asking about.
    fn query(&self, random: &mut Random, extent: f32) -> Query {
        let some = |random: &mut Random| {
            let placed = random.below(self.tree.placed.len());
            let instance = &self.list.instances[self.tree.placed[placed].instance as usize];
            let corners = self.corners[placed][random.below(self.corners[placed].len())];
            let rows = &instance.eye_from_local;
            corners.map(|c| match self.tree.placed[placed].at_rest {
                true => Vector::new(c).transform_point(rows).array(),
                false => c,
            })
        };
        let from_surface = random.below(3) == 0;
        let origin = if from_surface { some(random)[0] } else { random.point(5.0 * extent) };
        let [a, b, c] = some(random);
        let weight = random.between(0.0, 1.0);
        let target: [f32; 3] = match random.below(4) {
            0 => a,
            1 => std::array::from_fn(|k| a[k] + weight * (b[k] - a[k])),
            2 => std::array::from_fn(|k| (a[k] + b[k] + c[k]) / 3.0),
            _ => random.point(3.0 * extent),
        };
        let mut direction = difference(target, origin);
        // Along an axis, or across one.
        match random.below(6) {
            0 => (direction[random.below(3)], direction[random.below(3)]) = (0.0, 0.0),
            1 => direction[random.below(3)] = 1e-30,
            _ => {}
        }
        let length = [1.0, 1e-3, 100.0][random.below(3)];
        let t_max = if random.below(3) == 0 { random.between(0.0, 1.5) / length } else { T_MAX };
        let first = self.tree.placed[random.below(self.tree.placed.len())].first_triangle;
        let skip = if random.below(4) == 0 { first } else { NO_TRIANGLE };
        Query {
            origin: Vector::new(origin),
            direction: Vector::new(direction).scale(length),
            t_max,
            skip,
            any: random.below(3) == 0,
        }
    }
}

/// What of masked instances counts: by the hit alone.
fn accepts(hit: &Hit) -> bool {
    !hit.triangle.is_multiple_of(3) && hit.weights[0] < 0.75
}

fn check(name: &str, meshes: &[Vec<Corners>], transforms: &[Transform], extent: f32) {
    let case = Case::new(meshes, transforms, extent);
    let mut random = Random(name.len() as u32 * 7919);
    let mut stack = Stack::default();
    let mut met = 0;
    for k in 0..RAYS {
        let query = case.query(&mut random, extent);
        let (expected, actual) = (case.brute(&query), case.trace(&query, &mut stack));
        if query.any {
            assert_eq!(actual.is_some(), expected.is_some(), "{name}, ray {k}: {query:?}, {expected:?}");
        } else {
            assert_eq!(actual, expected, "{name}, ray {k}: {query:?}");
        }
        met += usize::from(expected.is_some());
    }
    assert!(met > RAYS / 10, "{name}: {met} of {RAYS} rays meet anything");
    assert!(case.tree.placed.len() >= transforms.len() && !case.prepared.indices.is_empty());
}

#[test]
fn instances_of_soups_are_met_as_one_by_one() {
    let random = &mut Random(1);
    let meshes = [soup(random, 70, 1.0, 0.4), soup(random, 9, 0.6, 2.0), soup(random, 1, 0.5, 1.0)];
    check("soups", &meshes, &transforms(), 1.0);
}

#[test]
fn needles_are_met_as_one_by_one() {
    check("needles", &[needles(&mut Random(2)), needles(&mut Random(3))], &transforms()[..5], 1.0);
}

#[test]
fn ties_go_to_the_lower_number() {
    let twice = [transforms()[0], transforms()[0], transforms()[3], transforms()[5]];
    check("duplicates", &[duplicates(), duplicates()], &twice, 1.0);
}

#[test]
fn huge_and_tiny_scenes_are_met_as_one_by_one() {
    for extent in [1e-6, 1e-3, 1e4, 1e8] {
        let random = &mut Random(4);
        let meshes = [soup(random, 40, 1.0, 0.5), soup(random, 20, 1.0, 0.01)];
        check(&format!("extent {extent:e}"), &meshes, &transforms(), extent);
    }
}

/// Visits a binary tree as shaders do, in their arithmetic.
struct Visitor<'a> {
    tree: &'a Tree,
    triangles: &'a [Corners],
    origin: [f32; 3],
    direction: [f32; 3],
    slack: f32,
}

impl Visitor<'_> {
    fn meets(&self, node: u32, t_max: f32) -> bool {
        let node = &self.tree.nodes[node as usize];
        let (mut near, mut far) = (0.0f32, t_max);
        for k in 0..3 {
            let backwards = self.direction[k] < 0.0;
            let inverse = recip(self.direction[k].abs().max(BOX_DIRECTION_MIN));
            let (inverse, slack) = if backwards { (-inverse, -self.slack) } else { (inverse, self.slack) };
            let (low, high) = if backwards { (node.max[k], node.min[k]) } else { (node.min[k], node.max[k]) };
            near = near.max((low - (self.origin[k] + slack)) * inverse);
            far = far.min((high - (self.origin[k] - slack)) * inverse);
        }
        near <= far * BOX_FARTHER
    }

    fn visit(&self, node: u32, best: &mut Option<(f32, u32)>) {
        let t_max = best.map_or(T_MAX, |(t, _)| t);
        if !self.meets(node, t_max) {
            return;
        }
        let node = &self.tree.nodes[node as usize];
        if node.count == 0 {
            self.visit(node.first, best);
            self.visit(node.first + 1, best);
            return;
        }
        for &number in &self.tree.order[node.first as usize..][..node.count as usize] {
            closer(best, meet(self.origin, self.direction, &self.triangles[number as usize]), number);
        }
    }
}

fn closer(best: &mut Option<(f32, u32)>, met: Option<(f32, [f32; 3])>, number: u32) {
    if let Some((t, _)) = met
        && best.is_none_or(|(b, n)| t < b || t == b && number < n)
    {
        *best = Some((t, number));
    }
}

#[test]
fn neither_leaves_nor_the_order_of_triangles_matter() {
    let random = &mut Random(5);
    let mut triangles = soup(random, 400, 1.0, 0.3);
    triangles.extend(needles(random));
    let boxes: Vec<Box3> = triangles.iter().map(|t| Box3::around(*t)).collect();
    let trees: Vec<Tree> = [1, 2, 4, 16].map(|leaf| build(&boxes, leaf)).into();
    let reach = boxes.iter().fold(0.0f32, |reach, b| reach.max(b.reach()));
    // The same triangles, last first: numbers change, and with them nothing but which of two at one distance is met.
    let backwards: Vec<[f32; 3]> = triangles.iter().rev().flatten().copied().collect();
    let last = triangles.len() as u32 - 1;
    let reversed = MeshTree::new(&vertices(&backwards), &(0..backwards.len() as u32).collect::<Vec<_>>());
    let mut stack = Stack::default();
    let mut met = 0;
    for k in 0..20_000 {
        let origin = random.point(3.0);
        let direction = difference(triangles[random.below(triangles.len())][k % 3], origin);
        let mut expected = None;
        let mut at = BTreeMap::<u32, Vec<u32>>::new();
        for (number, corners) in (0..).zip(&triangles) {
            let hit = meet(origin, direction, corners);
            closer(&mut expected, hit, number);
            if let Some((t, _)) = hit {
                at.entry(t.to_bits()).or_default().push(number);
            }
        }
        for tree in &trees {
            let slack = BOX_SLACK * origin.iter().fold(reach, |m, v| m.max(v.abs()));
            let mut best = None;
            Visitor { tree, triangles: &triangles, origin, direction, slack }.visit(0, &mut best);
            assert_eq!(best, expected, "ray {k} from {origin:?} along {direction:?}");
        }
        let mut best = None;
        dispatch!(Level::new(), simd => reversed.meet(
            simd,
            Vector::new(origin),
            Vector::new(direction),
            T_MAX,
            &mut stack,
            |number, t, _, _| {
                closer(&mut best, Some((t, [0.0; 3])), number);
                t
            },
        ));
        let wanted = expected.map(|(t, _)| (t, last - at[&t.to_bits()].iter().max().expect("a hit")));
        assert_eq!(best, wanted, "ray {k} from {origin:?} along {direction:?}, last first");
        met += usize::from(expected.is_some());
    }
    assert!(met > 5000, "{met} rays meet anything");
}

#[test]
fn triangles_are_handed_out_leaf_by_leaf() {
    let triangles = soup(&mut Random(6), 333, 1.0, 0.2);
    let positions: Vec<[f32; 3]> = triangles.iter().flatten().copied().collect();
    let mesh = MeshTree::new(&vertices(&positions), &(0..positions.len() as u32).collect::<Vec<_>>());
    let handed = mesh.leaf_triangles();
    assert_eq!(handed.iter().map(|(_, number)| *number).collect::<Vec<_>>(), mesh.tree.order);
    for (corners, number) in handed {
        assert_eq!(corners, triangles[number as usize]);
    }
}
