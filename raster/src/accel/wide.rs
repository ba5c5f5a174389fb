//! The CPU's form of a tree: eight boxes a node, visited by one ray at a time.
//!
//! *Source*: Wald, Benthin, Boulos, "Getting rid of packets", 2008; Embree.

use fearless_simd::{f32x8, prelude::*};

use super::boxes::Box3;
use super::build::{Node, Tree};
use crate::passes::vector::Vector;

/// A child that holds items rather than children.
const LEAF: u32 = 1 << 31;

/// What the boxes are widened by, in parts of the largest coordinate of box or origin: covers the rounding of
/// triangle tests and of box tests, fused or not, four times over.
pub const BOX_SLACK: f32 = 1.0 / (1u32 << 20) as f32;

/// Relative room for the distance to a box.
pub const BOX_FARTHER: f32 = 1.0 + 1.0 / (1u32 << 18) as f32;

/// Components of a direction count as at least this in box tests.
pub const BOX_DIRECTION_MIN: f32 = 1e-24;

/// What a query wants to know.
#[derive(Debug, Clone, Copy)]
pub struct Query {
    /// *Space*: eye.
    pub origin: Vector,
    /// Any length.
    pub direction: Vector,
    /// Farthest distance, in lengths of the direction.
    pub t_max: f32,
    /// A triangle that is not met: the one that the ray leaves; `NO_TRIANGLE` for none.
    pub skip: u32,
    /// Where any triangle will do: the answer is yes or no, and which is told means nothing.
    pub any: bool,
}

/// What a ray met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// In lengths of the direction.
    pub t: f32,
    /// Index of the instance.
    pub instance: u32,
    /// Number of the triangle over all instances.
    pub triangle: u32,
    /// Weights of its corners.
    pub weights: [f32; 3],
}

/// Decides whether a hit on an instance that is not opaque counts.
pub type Accept<'a> = &'a dyn Fn(&Hit) -> bool;

/// Eight boxes and what is in them.
#[repr(C, align(32))]
#[derive(Debug, Clone, Copy)]
struct WideNode {
    /// Lower x, y, z, upper x, y, z; lanes without a child hold boxes that nothing meets.
    bounds: [[f32; 8]; 6],
    child: [u32; 8],
}

/// A tree of nodes with eight children.
#[derive(Debug, Clone, Default)]
pub struct Wide {
    nodes: Vec<WideNode>,
    /// The largest magnitude of a coordinate.
    reach: f32,
}

/// Nodes yet to be visited, nearest last. Kept by a thread from ray to ray.
#[derive(Debug, Default)]
pub struct Stack {
    entries: Vec<(f32, u32)>,
}

impl Wide {
    /// Gathers a binary tree's boxes. A subtree of at most `leaf_items` items becomes a leaf, numbered by `leaf`, which
    /// is given its items' place in the tree's order.
    pub fn new(tree: &Tree, leaf_items: usize, mut leaf: impl FnMut(std::ops::Range<usize>) -> u32) -> Wide {
        let Some(root) = tree.nodes.first() else { return Wide::default() };
        let mut wide = Wide { nodes: Vec::new(), reach: root.bounds().reach() };
        let items = item_ranges(tree);
        let gather = Gather { tree, items: &items, leaf_items };
        gather.node(0, &mut wide.nodes, &mut leaf);
        wide
    }

    /// Memory held. *Units*: bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.nodes.as_slice())
    }

    /// Visits leaves that a ray may meet, near ones first. `visit` is given a leaf and returns how far the ray still
    /// goes: 0 ends it.
    #[inline(always)]
    pub fn visit<S: Simd>(
        &self,
        simd: S,
        origin: Vector,
        direction: Vector,
        mut t_max: f32,
        stack: &mut Stack,
        mut visit: impl FnMut(&mut Stack, u32) -> f32,
    ) {
        if self.nodes.is_empty() {
            return;
        }
        let ray = BoxRay::new(simd, origin, direction, self.reach);
        let base = stack.entries.len();
        stack.entries.push((0.0, 0));
        while stack.entries.len() > base {
            let Some((near, code)) = stack.entries.pop() else { break };
            if near > t_max * BOX_FARTHER {
                continue;
            }
            if code & LEAF != 0 {
                t_max = t_max.min(visit(stack, code & !LEAF));
                if t_max <= 0.0 {
                    stack.entries.truncate(base);
                }
                continue;
            }
            ray.push_children(simd, &self.nodes[code as usize], t_max, stack);
        }
    }
}

/// A ray as boxes see it.
struct BoxRay<S: Simd> {
    inverse: [f32x8<S>; 3],
    /// Origin times inverse, moved by the slack, for the near and the far planes.
    near: [f32x8<S>; 3],
    far: [f32x8<S>; 3],
    /// Rows of near planes.
    row: [usize; 3],
}

impl<S: Simd> BoxRay<S> {
    #[inline(always)]
    fn new(simd: S, origin: Vector, direction: Vector, reach: f32) -> Self {
        let (o, d) = (origin.array(), direction.array());
        let slack = BOX_SLACK * o.iter().fold(reach, |m, v| m.max(v.abs()));
        let mut ray = BoxRay {
            inverse: [f32x8::splat(simd, 0.0); 3],
            near: [f32x8::splat(simd, 0.0); 3],
            far: [f32x8::splat(simd, 0.0); 3],
            row: [0; 3],
        };
        for k in 0..3 {
            let backwards = d[k] < 0.0;
            let inverse = 1.0 / d[k].abs().max(BOX_DIRECTION_MIN);
            let (inverse, slack) = if backwards { (-inverse, -slack) } else { (inverse, slack) };
            ray.inverse[k] = f32x8::splat(simd, inverse);
            ray.near[k] = f32x8::splat(simd, (o[k] + slack) * inverse);
            ray.far[k] = f32x8::splat(simd, (o[k] - slack) * inverse);
            ray.row[k] = if backwards { k + 3 } else { k };
        }
        ray
    }

    /// Puts the children that the ray meets before `t_max` on the stack, the nearest on top.
    #[inline(always)]
    fn push_children(&self, simd: S, node: &WideNode, t_max: f32, stack: &mut Stack) {
        let plane = |row: usize| f32x8::simd_from(simd, node.bounds[row]);
        let other = |row: usize| if row < 3 { row + 3 } else { row - 3 };
        let mut near = f32x8::splat(simd, 0.0);
        let mut far = f32x8::splat(simd, t_max);
        for k in 0..3 {
            let row = self.row[k];
            near = near.max(plane(row).mul_sub(self.inverse[k], self.near[k]));
            far = far.min(plane(other(row)).mul_sub(self.inverse[k], self.far[k]));
        }
        let mut met = near.simd_le(far * BOX_FARTHER).to_bitmask();
        let base = stack.entries.len();
        while met != 0 {
            let lane = met.trailing_zeros() as usize;
            met &= met - 1;
            let entry = (near[lane], node.child[lane]);
            // Farthest first, by insertion: seldom more than two or three.
            stack.entries.push(entry);
            let mut k = stack.entries.len() - 1;
            while k > base && stack.entries[k - 1].0 < entry.0 {
                stack.entries[k] = stack.entries[k - 1];
                k -= 1;
            }
            stack.entries[k] = entry;
        }
    }
}

/// Which items are below each node.
fn item_ranges(tree: &Tree) -> Vec<std::ops::Range<u32>> {
    let mut ranges = vec![0..0; tree.nodes.len()];
    // Children follow their parents.
    for (k, node) in tree.nodes.iter().enumerate().rev() {
        ranges[k] = match node.count {
            0 => ranges[node.first as usize].start..ranges[node.first as usize + 1].end,
            count => node.first..node.first + count,
        };
    }
    ranges
}

struct Gather<'a> {
    tree: &'a Tree,
    items: &'a [std::ops::Range<u32>],
    leaf_items: usize,
}

impl Gather<'_> {
    fn is_leaf(&self, node: u32) -> bool {
        self.items[node as usize].len() <= self.leaf_items || self.tree.nodes[node as usize].count > 0
    }

    /// Makes the node over a binary subtree; returns its index.
    fn node(
        &self,
        root: u32,
        nodes: &mut Vec<WideNode>,
        leaf: &mut impl FnMut(std::ops::Range<usize>) -> u32,
    ) -> u32 {
        let mut children = vec![root];
        // Opens the child of the largest surface until there are eight.
        while children.len() < 8 {
            let area = |k: u32| self.tree.nodes[k as usize].bounds().half_area();
            let open = (0..children.len())
                .filter(|&c| !self.is_leaf(children[c]))
                .max_by(|&a, &b| area(children[a]).total_cmp(&area(children[b])));
            let Some(open) = open else { break };
            let Node { first, .. } = self.tree.nodes[children[open] as usize];
            children[open] = first;
            children.push(first + 1);
        }
        let index = nodes.len();
        nodes.push(WideNode { bounds: EMPTY_BOUNDS, child: [0; 8] });
        for (lane, &child) in children.iter().enumerate() {
            let bounds: Box3 = self.tree.nodes[child as usize].bounds();
            let code = if self.is_leaf(child) {
                let items = &self.items[child as usize];
                LEAF | leaf(items.start as usize..items.end as usize)
            } else {
                self.node(child, nodes, leaf)
            };
            let node = &mut nodes[index];
            for axis in 0..3 {
                node.bounds[axis][lane] = bounds.min[axis];
                node.bounds[axis + 3][lane] = bounds.max[axis];
            }
            node.child[lane] = code;
        }
        index as u32
    }
}

const EMPTY_BOUNDS: [[f32; 8]; 6] = [[1e30; 8], [1e30; 8], [1e30; 8], [-1e30; 8], [-1e30; 8], [-1e30; 8]];
