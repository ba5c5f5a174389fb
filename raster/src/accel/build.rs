//! Builds a binary tree of boxes by the surface area heuristic over bins, on all threads.
//!
//! *Source*: Wald, "On fast construction of SAH-based bounding volume hierarchies", 2007.

use bytemuck::{Pod, Zeroable};

use super::boxes::Box3;

/// Bins along an axis.
const BINS: usize = 16;
/// Items from which subtrees are built side by side.
const PARALLEL_FROM: usize = 4096;
/// Deepest split that the heuristic chooses; below, halves are split off, so that no input makes a deep tree.
const HEURISTIC_DEPTH: usize = 40;
/// Most nodes from the root to a leaf's parent, over at most 2^24 items.
pub const DEPTH_MAX: usize = HEURISTIC_DEPTH + 24;
/// Cost of visiting a node, in tests of an item.
const NODE_COST: f32 = 1.0;

/// A node, 32 bytes; children lie side by side. Twin: `tree_node` in `shaders/tree.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct Node {
    /// Lower corner.
    pub min: [f32; 3],
    /// First of two children, or of `count` entries of [`Tree::order`].
    pub first: u32,
    /// Upper corner.
    pub max: [f32; 3],
    /// 0 where there are children.
    pub count: u32,
}

impl Node {
    /// Its box.
    pub fn bounds(&self) -> Box3 {
        Box3 { min: self.min, max: self.max }
    }
}

/// A binary tree over items.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// The root first; empty where there are no items.
    pub nodes: Vec<Node>,
    /// Items, leaf by leaf.
    pub order: Vec<u32>,
}

/// Builds a tree over `boxes` with at most `leaf_items` in a leaf.
pub fn build(boxes: &[Box3], leaf_items: usize) -> Tree {
    if boxes.is_empty() {
        return Tree::default();
    }
    let mut order: Vec<u32> = (0..boxes.len() as u32).collect();
    let builder = Builder { boxes, leaf_items };
    let nodes = builder.subtree(&mut order, 0, 0);
    Tree { nodes, order }
}

struct Builder<'a> {
    boxes: &'a [Box3],
    leaf_items: usize,
}

/// Where items are parted: those whose bin along `axis` is below `bin`.
struct Split {
    axis: usize,
    bin: usize,
    cost: f32,
}

/// How centres become bins.
struct Bins {
    min2: [f32; 3],
    scale: [f32; 3],
}

impl Bins {
    #[inline(always)]
    fn of(&self, b: &Box3, axis: usize) -> usize {
        (((b.center2(axis) - self.min2[axis]) * self.scale[axis]) as usize).min(BINS - 1)
    }
}

impl Builder<'_> {
    /// The nodes over `order`, which begins at `first` of the whole order; indices count from the subtree's root.
    fn subtree(&self, order: &mut [u32], first: usize, depth: usize) -> Vec<Node> {
        let mut bounds = Box3::EMPTY;
        let mut centers = Box3::EMPTY;
        for &k in order.iter() {
            let b = &self.boxes[k as usize];
            bounds.add(b);
            let c = std::array::from_fn(|axis| b.center2(axis));
            centers.add(&Box3 { min: c, max: c });
        }
        let leaf = Node { min: bounds.min, max: bounds.max, first: first as u32, count: order.len() as u32 };
        let Some(middle) = self.part(order, &bounds, &centers, depth) else { return vec![leaf] };
        let (left, right) = order.split_at_mut(middle);
        let build_left = |left: &mut [u32]| self.subtree(left, first, depth + 1);
        let build_right = |right: &mut [u32]| self.subtree(right, first + middle, depth + 1);
        let (left, right) = if left.len() + right.len() > PARALLEL_FROM {
            rayon::join(|| build_left(left), || build_right(right))
        } else {
            (build_left(left), build_right(right))
        };
        join(leaf, left, right)
    }

    /// Reorders items so that those before the index returned go left; none where a leaf is better.
    fn part(&self, order: &mut [u32], bounds: &Box3, centers: &Box3, depth: usize) -> Option<usize> {
        if order.len() == 1 {
            return None;
        }
        if depth < HEURISTIC_DEPTH {
            let extent = |axis: usize| centers.max[axis] - centers.min[axis];
            let scale = |axis: usize| if extent(axis) > 0.0 { BINS as f32 / extent(axis) } else { 0.0 };
            let bins = Bins { min2: centers.min, scale: std::array::from_fn(scale) };
            if let Some(split) = self.best_split(order, &bins) {
                let leaf_cost = bounds.half_area() * order.len() as f32;
                let split_cost = bounds.half_area() * NODE_COST + split.cost;
                if order.len() <= self.leaf_items && leaf_cost <= split_cost {
                    return None;
                }
                return Some(self.partition(order, &bins, &split));
            }
        }
        // All centres are one, or the tree is deep: halves in the order that the items have.
        if order.len() <= self.leaf_items { None } else { Some(order.len() / 2) }
    }

    fn best_split(&self, order: &[u32], bins: &Bins) -> Option<Split> {
        let mut filled = [[(Box3::EMPTY, 0u32); BINS]; 3];
        for &k in order {
            let b = &self.boxes[k as usize];
            for axis in 0..3 {
                let bin = &mut filled[axis][bins.of(b, axis)];
                bin.0.add(b);
                bin.1 += 1;
            }
        }
        let mut best: Option<Split> = None;
        for axis in (0..3).filter(|&axis| bins.scale[axis] > 0.0) {
            let mut right_cost = [0.0f32; BINS];
            let (mut bounds, mut count) = (Box3::EMPTY, 0);
            for bin in (1..BINS).rev() {
                bounds.add(&filled[axis][bin].0);
                count += filled[axis][bin].1;
                right_cost[bin] = if count == 0 { f32::INFINITY } else { bounds.half_area() * count as f32 };
            }
            let (mut bounds, mut count) = (Box3::EMPTY, 0);
            for bin in 1..BINS {
                bounds.add(&filled[axis][bin - 1].0);
                count += filled[axis][bin - 1].1;
                if count == 0 {
                    continue;
                }
                let cost = bounds.half_area() * count as f32 + right_cost[bin];
                if cost < best.as_ref().map_or(f32::INFINITY, |b| b.cost) {
                    best = Some(Split { axis, bin, cost });
                }
            }
        }
        best
    }

    fn partition(&self, order: &mut [u32], bins: &Bins, split: &Split) -> usize {
        let mut middle = 0;
        for k in 0..order.len() {
            if bins.of(&self.boxes[order[k] as usize], split.axis) < split.bin {
                order.swap(k, middle);
                middle += 1;
            }
        }
        middle
    }
}

/// Puts two subtrees below a new root: their roots become neighbours.
fn join(root: Node, left: Vec<Node>, right: Vec<Node>) -> Vec<Node> {
    let mut nodes = Vec::with_capacity(1 + left.len() + right.len());
    let moved = |node: &Node, by: usize| match node.count {
        0 => Node { first: node.first + by as u32, ..*node },
        _ => *node,
    };
    // The left subtree's others follow both roots, the right one's follow them.
    let (left_by, right_by) = (2, left.len() + 1);
    nodes.push(Node { first: 1, count: 0, ..root });
    nodes.push(moved(&left[0], left_by));
    nodes.push(moved(&right[0], right_by));
    nodes.extend(left[1..].iter().map(|node| moved(node, left_by)));
    nodes.extend(right[1..].iter().map(|node| moved(node, right_by)));
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_boxes(count: usize) -> Vec<Box3> {
        let mut seed = 7u32;
        let mut next = move || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / 16_777_216.0
        };
        (0..count)
            .map(|_| {
                let p: [f32; 3] = std::array::from_fn(|_| next() * 100.0);
                Box3 { min: p, max: std::array::from_fn(|k| p[k] + next()) }
            })
            .collect()
    }

    /// Each item is in one leaf, each box holds what is below it, and no path is deeper than it may be.
    fn check(boxes: &[Box3], leaf_items: usize) {
        let tree = build(boxes, leaf_items);
        let mut seen = vec![0; boxes.len()];
        let mut stack = vec![(0u32, 0usize)];
        let mut visited = 0;
        while let Some((k, depth)) = stack.pop() {
            visited += 1;
            assert!(depth <= DEPTH_MAX, "deep");
            let node = tree.nodes[k as usize];
            let holds = |b: &Box3| (0..3).all(|a| node.min[a] <= b.min[a] && node.max[a] >= b.max[a]);
            if node.count == 0 {
                for child in [node.first, node.first + 1] {
                    assert!(holds(&tree.nodes[child as usize].bounds()));
                    stack.push((child, depth + 1));
                }
            } else {
                assert!(node.count as usize <= leaf_items);
                for &item in &tree.order[node.first as usize..][..node.count as usize] {
                    assert!(holds(&boxes[item as usize]));
                    seen[item as usize] += 1;
                }
            }
        }
        assert_eq!(visited, tree.nodes.len());
        assert!(seen.iter().all(|&n| n == 1));
    }

    #[test]
    fn trees_hold_each_item_once() {
        for count in [1, 2, 3, 9, 100, 20_000] {
            check(&random_boxes(count), 4);
        }
        // All alike, and each far beyond the one before.
        check(&vec![Box3 { min: [1.0; 3], max: [2.0; 3] }; 1000], 4);
        let far = |k: i32| Box3 { min: [2.0f32.powi(k); 3], max: [2.0f32.powi(k); 3] };
        check(&(-20..27).map(far).collect::<Vec<_>>(), 1);
    }

    #[test]
    fn threads_change_nothing() {
        let boxes = random_boxes(30_000);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| build(&boxes, 4))
        };
        let (one, many) = (with(1), with(5));
        assert_eq!(one.nodes, many.nodes);
        assert_eq!(one.order, many.order);
    }
}
