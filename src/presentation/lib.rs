//! Everything between the picture and the screen that needs no browser: words, pseudo-code, rows, the session, SVG,
//! and motion. The page, the command line and the books share it.

pub mod against;
pub mod anchor;
pub mod caption;
pub mod checks;
pub mod cluster;
pub mod command;
pub mod decimal;
pub mod fact_queries;
pub mod handout;
pub mod informers;
pub mod keys;
pub mod landmarks;
pub mod lanes;
pub mod motion;
pub mod options;
pub mod pseudo;
pub mod qr;
pub mod rows;
pub mod session;
pub mod shelf;
pub mod stage;
pub mod state;
pub mod story;
pub mod strings;
pub mod svg;
pub mod terms;
pub mod view;
