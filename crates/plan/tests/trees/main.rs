//! Spanning trees: examples worked by hand, and any graph against what a slower search finds.

mod any_graph;
mod apart;
mod by_hand;
mod drawing;
