//! A connection to a cluster: the address of its API, obstacles and the commands that remove them, what is watched,
//! and the state of the connection. Pure; the requests are made in `live`, the dialog is in `board/cluster`.

mod indices;
mod options;
pub mod owners;
mod probe;
mod resources;
mod run;
mod status;
mod together;
mod trouble;

pub use indices::{check_index, index_names, without_values};
pub use options::{MANY, Options, left_out, resync_ms};
pub use probe::{BASES, Missing, Probe, Tried, WAYS, Way, base_of, missing};
pub use resources::{CUSTOM, groups, is_built_in, offered};
pub use run::{scenario, title};
pub use status::{Clock, Phase, Status};
pub use together::{Tab, room_beside};
pub use trouble::{excess, note, trouble};

#[cfg(test)]
pub(crate) use together::MOST_TABS;
