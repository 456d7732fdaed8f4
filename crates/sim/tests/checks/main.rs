//! The simulator as a whole, checked against theory, against what others published, and against itself.
//! `docs/validation.md` lists every check with its source, its figures and its band.

mod common;

mod answers;
mod blocks;
mod bonds;
mod bounds;
mod bridging;
mod cancelled;
mod causes;
mod congestion;
mod cores;
mod cut_off;
mod figure_17;
mod flow_sizes;
mod fragments;
mod frames;
mod golden;
mod htsim;
mod hypervisors;
mod lock_out;
mod mpi;
mod mtus;
mod netstat;
mod noise;
mod ns3_cases;
mod oltp_mix;
mod parallel;
mod paths;
mod prioritisation;
mod processor;
mod programs;
mod properties;
mod random_bridging;
mod random_plan;
mod requests;
mod send_buffer;
mod storage;
mod storage_network;
mod theory;
mod timeline;
mod trees;
mod unnoticed;
mod warm_up;
mod windows;
