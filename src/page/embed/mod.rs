//! Interfaces for other pages and for scripts.

pub mod api;
pub mod element;
mod events;

use crate::motion::Stage;
use crate::runs::Runs;
use crate::sight;
use deltascope_presentation::session::{Session, opening};
use deltascope_replay::lessons;

impl Runs {
    pub(crate) const ALL: Self = Self {
        complete: Session::complete,
        before: Session::before_opening,
        open: opening::open_boxed,
        lesson: lessons::load,
        export: Session::export,
        seek: Session::seek_named,
        generation: Session::set_generation,
        compare: Session::compare_named,
        changed: element::changed,
        inject: Session::inject,
        scene: Session::scene,
        sees: sight::Before::of,
        plays: Stage::play,
        picture: api::picture_options,
    };
}
