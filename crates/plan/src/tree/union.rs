//! As many links as several forests can have between them: matroid union.
//!
//! Edmonds (1965), in the form of Roskind and Tarjan (Mathematics of Operations Research 10, 1985):
//! a link that closes a loop in every forest may still enter one, when a link of that loop moves to
//! another forest, and so on. A search over such moves, shortest first, finds a sequence whenever
//! there is one.

use std::collections::VecDeque;

/// Links as pairs of nodes, without a node's name.
pub(super) type Pairs = [(usize, usize)];

/// Forests over the same nodes that share no link.
pub(super) struct Forests<'a> {
    nodes: usize,
    links: &'a Pairs,
    /// By link: the forest that has it.
    of_link: Vec<Option<usize>>,
    /// By forest and node: links of the forest that end there.
    at: Vec<Vec<Vec<usize>>>,
    /// Links of a search that found nothing. Within them every forest is full and stays as it is.
    is_settled: Vec<bool>,
}

impl<'a> Forests<'a> {
    /// `count` forests that have as many links together as any have.
    pub(super) fn largest(count: usize, nodes: usize, links: &'a Pairs) -> Forests<'a> {
        let at = vec![vec![Vec::new(); nodes]; count];
        let mut forests = Forests {
            nodes,
            links,
            of_link: vec![None; links.len()],
            at,
            is_settled: vec![false; links.len()],
        };
        (0..links.len()).for_each(|link| forests.augment(link));
        forests
    }

    /// Links of one forest.
    pub(super) fn links_of(&self, forest: usize) -> Vec<usize> {
        (0..self.links.len()).filter(|&link| self.of_link[link] == Some(forest)).collect()
    }

    /// Lets one more link in, if any moves allow it.
    fn augment(&mut self, new: usize) {
        let mut came_by: Vec<Option<usize>> = vec![None; self.links.len()];
        let mut is_seen = self.is_settled.clone();
        is_seen[new] = true;
        let mut reached = vec![new];
        let mut open = VecDeque::from([new]);
        while let Some(link) = open.pop_front() {
            for forest in (0..self.at.len()).filter(|&forest| self.of_link[link] != Some(forest)) {
                let Some(way) = self.way(forest, link) else {
                    return self.shift(link, forest, &came_by);
                };
                for other in
                    way.into_iter().filter(|&other| !std::mem::replace(&mut is_seen[other], true))
                {
                    came_by[other] = Some(link);
                    reached.push(other);
                    open.push_back(other);
                }
            }
        }
        reached.into_iter().for_each(|link| self.is_settled[link] = true);
    }

    /// `link` enters `forest`; the link that it made room for enters the forest which it has left,
    /// and so on.
    fn shift(&mut self, mut link: usize, mut forest: usize, came_by: &[Option<usize>]) {
        loop {
            let left = self.of_link[link].replace(forest);
            let (a, b) = self.links[link];
            for node in [a, b] {
                if let Some(left) = left {
                    self.at[left][node].retain(|&other| other != link);
                }
                self.at[forest][node].push(link);
            }
            let (Some(left), Some(before)) = (left, came_by[link]) else { return };
            (link, forest) = (before, left);
        }
    }

    /// The links of a forest between the ends of a link; `None` when the forest does not join them.
    fn way(&self, forest: usize, link: usize) -> Option<Vec<usize>> {
        let (from, to) = self.links[link];
        let mut came_by = vec![None; self.nodes];
        let mut open = VecDeque::from([from]);
        while let Some(node) = open.pop_front() {
            if node == to {
                break;
            }
            for &next in &self.at[forest][node] {
                let peer = other_end(self.links[next], node);
                if peer != from && came_by[peer].is_none() {
                    came_by[peer] = Some(next);
                    open.push_back(peer);
                }
            }
        }
        let mut way = Vec::new();
        let mut node = to;
        while node != from {
            let link = came_by[node]?;
            way.push(link);
            node = other_end(self.links[link], node);
        }
        Some(way)
    }
}

/// The end of a link that is not `node`.
pub(super) fn other_end((a, b): (usize, usize), node: usize) -> usize {
    if a == node { b } else { a }
}
