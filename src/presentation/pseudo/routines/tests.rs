//! Every step has a line, and every line fits.

use super::Id;
use crate::pseudo::LINE;
use deltascope_cache::step::Step;

#[test]
fn every_step_is_one_line_of_one_routine() {
    for step in Step::ALL {
        let places: Vec<_> = Id::ALL
            .into_iter()
            .flat_map(|id| id.routine().lines.iter().map(move |line| (id, line)))
            .flat_map(|(id, line)| line.steps.iter().map(move |step| (id, line.text, *step)))
            .filter(|(_, _, at)| *at == step)
            .collect();
        assert_eq!(places.len(), 1, "{step:?}: {places:?}");
    }
}

#[test]
fn every_line_fits_and_begins_with_a_header() {
    for id in Id::ALL {
        let lines = id.routine().lines;
        assert!(lines.len() <= 10, "{id:?}");
        assert!(!lines[0].text.starts_with(' ') && lines[0].steps.is_empty());
        for line in lines {
            assert!(line.text.chars().count() <= LINE, "{id:?}: {:?}", line.text);
        }
        if let Some((first, last)) = id.routine().unordered {
            assert!(first < last && last < lines.len(), "{id:?}");
        }
    }
}
