//! Which names are one process's: those whose requests came over one connection.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltascope_replay::tap::detect::Client;
use deltascope_replay::tap::finding::Shared;

/// Most connections whose clients are known, and most pairs of names.
const MOST: usize = 4_096;

/// Who has used the connections.
#[derive(Default)]
pub(super) struct Names {
    /// Who used each connection last.
    last: BTreeMap<u64, Arc<str>>,
    shared: Shared,
}

impl Names {
    /// A request has come.
    pub(super) fn came(&mut self, client: &Client) {
        let agent = Arc::clone(&client.agent);
        let last = self.last.insert(client.connection, agent);
        if let Some(last) = last.filter(|last| *last != client.agent)
            && self.shared.len() < MOST
        {
            let mut pair = [last, Arc::clone(&client.agent)];
            pair.sort_unstable();
            self.shared.insert(pair);
        }
        if self.last.len() > MOST {
            // The oldest one, and it is most likely closed.
            self.last.pop_first();
        }
    }

    /// The names that have shared a connection.
    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_share_a_connection_are_one_processs() {
        let mut names = Names::default();
        let mut came = |agent: &str, connection| {
            let agent = agent.into();
            names.came(&Client { agent, connection });
        };
        came("b", 1);
        came("b", 1);
        came("a", 1);
        came("b", 1);
        came("c", 2);
        for connection in 0..2 * MOST as u64 {
            came("d", 10 + connection);
        }
        // What it was is forgotten.
        came("a", 2);
        assert_eq!(*names.shared(), Shared::from([["a".into(), "b".into()]]));
        assert_eq!(names.last.len(), MOST);
    }
}
