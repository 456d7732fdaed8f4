//! Choice of trees that share as few links between switches as possible: two proposals, of which
//! the better is used.
//!
//! Where every switch has hosts, the fewest shared links are those of a matroid union
//! ([`super::union`]), exactly. Where some have none (spines), what counts is the links that carry
//! frames, and to choose among trees that may leave switches out is a hard problem; then short
//! trees from the best root, each around the links that the earlier ones use, are usually as good
//! and shorter. The proposal with fewer shared links that carry frames is taken, then the one with
//! the shorter ways, then the short trees.
//!
//! A tree is configured as an operator would do it: by path costs, 1 for its links and the largest
//! for all others.

use super::PATH_COST_MAX;
use super::union::{Forests, Pairs, other_end};
use crate::error::require;
use crate::graph::Graph;
use crate::{PlanError, RawTree};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Most switches, and most links between them, of a network whose trees are chosen: the choice
/// takes a second for 8 trees then, and 15 for 64 (measured), every time that a plan is read.
pub(crate) const SWITCHES_MAX: usize = 256;
pub(crate) const LINKS_MAX: usize = 2_048;

/// A tree as the links that it has, by their place among the links between switches.
type Tree = Vec<usize>;

/// What the choice is about: how many trees, over which switches and links between them, and which
/// switches have hosts.
pub(super) struct Drawing {
    trees: usize,
    nodes: usize,
    links: Vec<(usize, usize)>,
    costs: Vec<u64>,
    has_hosts: Vec<bool>,
}

/// Sets the path costs of all trees but the first, which is for what has no VLAN of its own and
/// stays as it is.
pub(super) fn choose_costs(settings: &mut [RawTree], graph: &Graph) -> Result<(), PlanError> {
    let between: Vec<usize> =
        (0..graph.links.len()).filter(|&link| graph.is_between_switches(link)).collect();
    let nodes = graph.names.len() - graph.hosts;
    let small = nodes <= SWITCHES_MAX && between.len() <= LINKS_MAX;
    require(
        small,
        "spanning_tree.disjoint",
        "disjoint trees require at most 256 switches and 2048 links between them",
    )?;
    let ends = |link: usize| (graph.links[link].a - graph.hosts, graph.links[link].b - graph.hosts);
    let has_host =
        |switch: usize| graph.ports[graph.hosts + switch].iter().any(|end| end.peer < graph.hosts);
    let drawing = Drawing {
        trees: settings.len() - 1,
        nodes,
        links: between.iter().map(|&link| ends(link)).collect(),
        costs: between.iter().map(|&link| u64::from(settings[0].path_cost[link])).collect(),
        has_hosts: (0..nodes).map(has_host).collect(),
    };
    for (tree, chosen) in settings[1..].iter_mut().zip(drawing.choose()) {
        tree.path_cost = vec![PATH_COST_MAX; graph.links.len()];
        chosen.iter().for_each(|&link| tree.path_cost[between[link]] = 1);
    }
    Ok(())
}

impl Drawing {
    fn choose(&self) -> Vec<Tree> {
        let (short, apart) = (self.short_trees(), self.apart_trees());
        if self.quality(&apart) < self.quality(&short) { apart } else { short }
    }

    /// Links that carry frames of more than one tree, counted once for each tree after the first,
    /// and the sum of all ways between switches with hosts, in links.
    fn quality(&self, trees: &[Tree]) -> (usize, usize) {
        let mut uses = vec![0_usize; self.links.len()];
        let mut ways = 0;
        for tree in trees {
            self.carrying(tree).into_iter().for_each(|link| uses[link] += 1);
            let from = (0..self.nodes).filter(|&node| self.has_hosts[node]);
            ways += from.map(|node| self.depths(tree, node)).sum::<usize>();
        }
        (uses.into_iter().map(|count| count.saturating_sub(1)).sum(), ways)
    }

    /// Exact where all switches have hosts: forests with the most links between them, made whole
    /// with shared ones.
    fn apart_trees(&self) -> Vec<Tree> {
        let forests = Forests::largest(self.trees, self.nodes, &self.links);
        let mut trees: Vec<Tree> = (0..self.trees).map(|forest| forests.links_of(forest)).collect();
        let mut uses = vec![0_u64; self.links.len()];
        trees.iter().flatten().for_each(|&link| uses[link] += 1);
        for tree in &mut trees {
            let mut order: Vec<usize> = (0..self.links.len()).collect();
            order.sort_by_key(|&link| (uses[link], self.costs[link], link));
            for link in self.completing(tree, &order) {
                tree.push(link);
                uses[link] += 1;
            }
        }
        trees
    }

    /// Links that make a forest a tree of all that is joined, the first in `order` first.
    fn completing(&self, forest: &Tree, order: &[usize]) -> Vec<usize> {
        let mut piece: Vec<usize> = (0..self.nodes).collect();
        let mut unite = |link: usize| {
            let (a, b) = (piece[self.links[link].0], piece[self.links[link].1]);
            piece.iter_mut().filter(|piece| **piece == b).for_each(|piece| *piece = a);
            a != b
        };
        forest.iter().for_each(|&link| assert!(unite(link), "a forest has no loop"));
        order.iter().copied().filter(|&link| unite(link)).collect()
    }

    /// One after the other: cheapest ways from a root, where a link that earlier trees use is a
    /// last resort. The root is the one with the fewest shared links, and then the one nearest to
    /// the hosts.
    fn short_trees(&self) -> Vec<Tree> {
        let mut uses = vec![0_u64; self.links.len()];
        let mut trees = Vec::new();
        for _ in 0..self.trees {
            let candidates = (0..self.nodes).map(|root| {
                let tree = self.cheapest(root, &uses);
                let shared: u64 = self.carrying(&tree).iter().map(|&link| uses[link]).sum();
                ((shared, self.depths(&tree, root), root), tree)
            });
            let (_, tree) =
                candidates.min_by_key(|(quality, _)| *quality).expect("a network has switches");
            self.carrying(&tree).into_iter().for_each(|link| uses[link] += 1);
            trees.push(tree);
        }
        trees
    }

    /// Dijkstra's tree; of each piece of the drawing that the root does not reach, the tree from
    /// its first switch.
    fn cheapest(&self, root: usize, uses: &[u64]) -> Tree {
        let at = adjacency(self.nodes, &self.links, 0..self.links.len());
        let mut best = vec![None; self.nodes];
        let mut tree = Tree::new();
        for start in [root].into_iter().chain(0..self.nodes) {
            let mut open = BinaryHeap::from([Reverse(((0, 0), start, None))]);
            while let Some(Reverse((way, node, by))) = open.pop() {
                if best[node].is_some() {
                    continue;
                }
                best[node] = Some(way);
                tree.extend(by);
                for &link in &at[node] {
                    let next = (way.0 + uses[link], way.1 + self.costs[link]);
                    open.push(Reverse((next, other_end(self.links[link], node), Some(link))));
                }
            }
        }
        tree
    }

    /// The links of a tree that lie between hosts: what is left when ends without hosts are cut
    /// off.
    fn carrying(&self, tree: &Tree) -> Vec<usize> {
        let at = adjacency(self.nodes, &self.links, tree.iter().copied());
        let mut left: Vec<usize> = at.iter().map(Vec::len).collect();
        let mut is_cut = vec![false; self.links.len()];
        let mut open: VecDeque<usize> =
            (0..self.nodes).filter(|&node| left[node] == 1 && !self.has_hosts[node]).collect();
        while let Some(node) = open.pop_front() {
            let Some(&link) = at[node].iter().find(|&&link| !is_cut[link]) else { continue };
            is_cut[link] = true;
            let peer = other_end(self.links[link], node);
            left[peer] -= 1;
            if left[peer] == 1 && !self.has_hosts[peer] {
                open.push_back(peer);
            }
        }
        tree.iter().copied().filter(|&link| !is_cut[link]).collect()
    }

    /// Sum over the switches with hosts of their links from `root`.
    fn depths(&self, tree: &Tree, root: usize) -> usize {
        let at = adjacency(self.nodes, &self.links, tree.iter().copied());
        let mut depth = vec![None; self.nodes];
        depth[root] = Some(0);
        let mut open = VecDeque::from([(root, 0)]);
        while let Some((node, so_far)) = open.pop_front() {
            for peer in at[node].iter().map(|&link| other_end(self.links[link], node)) {
                if depth[peer].is_none() {
                    depth[peer] = Some(so_far + 1);
                    open.push_back((peer, so_far + 1));
                }
            }
        }
        // A switch in another piece of the drawing is as far as none of this one can be.
        (0..self.nodes)
            .filter(|&node| self.has_hosts[node])
            .map(|node| depth[node].unwrap_or(self.nodes))
            .sum()
    }
}

/// By node: the links that end there.
fn adjacency(nodes: usize, links: &Pairs, of: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut at = vec![Vec::new(); nodes];
    for link in of {
        at[links[link].0].push(link);
        at[links[link].1].push(link);
    }
    at
}
