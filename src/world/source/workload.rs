//! Traffic for the sandbox: the writes of a small cluster's clients, from a seed.

use std::collections::{BTreeMap, VecDeque};

use crate::fill::fill;
use deltascope_cache::fact::Body;
use deltascope_cache::key::Key;
use deltascope_cache::rng::Rng;

use super::pod::{PodSpec, Write, named};

/// Namespace, name and label `app` of the first pods.
const ROSTER: [(&str, &str, &str); 7] = [
    ("default", "web-0", "web"),
    ("default", "web-1", "web"),
    ("kube-sys", "dns", "dns"),
    ("default", "nettool", "tools"),
    ("shop", "db-0", "db"),
    ("shop", "front", "web"),
    ("kube-sys", "proxy", "tools"),
];
/// Deployments: their pods get a new name each time.
const DEPLOYMENTS: [(&str, &str); 3] = [("shop", "api"), ("default", "api"), ("shop", "cart")];
const APPS: [&str; 5] = ["web", "api", "db", "dns", "tools"];
const NODES: [&str; 3] = ["n1", "n2", "n3"];

/// How busy the cluster is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Nothing is deleted while at most this many pods are alive.
    pub min_alive: usize,
    /// Nothing is created while at least this many pods are alive.
    pub max_alive: usize,
    /// The pause between bursts in ms, from and to.
    pub pause_ms: (u64, u64),
    /// The pause between the writes of a burst in ms, from and to.
    pub gap_ms: (u64, u64),
}

impl Default for Options {
    /// As many pods as the page shows without scrolling; bursts short enough that deltas pile up.
    fn default() -> Self {
        Self {
            min_alive: 3,
            max_alive: 6,
            pause_ms: (600, 2_000),
            gap_ms: (12, 32),
        }
    }
}

/// An endless series of writes: the same seed makes the same ones, in every release.
///
/// It is told of all writes, so other clients may write too. It cannot know of their writes between its choice of a
/// write and that write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    rng: Rng,
    options: Options,
    /// The existing objects, by namespace and name: to sort them before each write would take as long as a thousand
    /// writes where there are thousands.
    existing: Vec<Key>,
    /// The object of the current burst, and the steps left for it.
    target: Option<(String, String)>,
    plan: VecDeque<Act>,
}

/// One step of a burst; skipped where it does not fit the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Create,
    /// Bind the pod, then start it.
    Advance,
    /// Change its label `app`.
    Relabel,
    /// Let the pod succeed or fail.
    Finish,
    Delete,
}

impl Workload {
    /// Creates a workload from a seed.
    #[must_use]
    pub fn new(seed: u64, options: Options) -> Self {
        Self {
            rng: Rng::new(seed),
            options,
            existing: Vec::new(),
            target: None,
            plan: VecDeque::new(),
        }
    }

    /// Notes whether an object exists. A key is `namespace/name`, or `name` without a namespace.
    pub fn note(&mut self, key: &Key, exists: bool) {
        match (self.place(named(key)), exists) {
            (Err(place), true) => self.existing.insert(place, key.clone()),
            (Ok(place), false) => {
                self.existing.remove(place);
            }
            (Ok(_), true) | (Err(_), false) => {}
        }
    }

    /// The place of an object, or where it would be.
    fn place(&self, name: (&str, &str)) -> Result<usize, usize> {
        self.existing.binary_search_by(|key| named(key).cmp(&name))
    }

    /// The pods that a sandbox starts with, all running: `min_alive` of them, but no more than the roster
    /// has.
    pub fn start(&mut self) -> Vec<PodSpec> {
        let count = self.options.min_alive.min(ROSTER.len());
        ROSTER[..count]
            .iter()
            .map(|&(namespace, name, app)| PodSpec {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
                labels: app_label(app),
                node: self.one_of(&NODES).to_owned(),
                phase: "Running".to_owned(),
            })
            .collect()
    }

    /// The next write and its time, after `now_ms`; `body` returns the content of an existing object.
    pub fn next(&mut self, now_ms: u64, body: &dyn Fn(&Key) -> Option<Body>) -> (u64, Write) {
        let (low, high) = self.options.gap_ms;
        if let Some(write) = self.continue_burst(body) {
            return (now_ms.saturating_add(self.rng.between(low, high)), write);
        }
        let (low, high) = self.options.pause_ms;
        let at = now_ms.saturating_add(self.rng.between(low, high));
        // A plan begins with a step that fits, unless only a creation is possible.
        self.plan_burst(body);
        let write = match self.continue_burst(body) {
            Some(write) => write,
            None => {
                self.plan_creation();
                self.create()
            }
        };
        (at, write)
    }

    fn plan_burst(&mut self, body: &dyn Fn(&Key) -> Option<Body>) {
        self.plan.clear();
        let alive = self.existing.len();
        let room = alive < self.options.max_alive;
        if alive < self.options.min_alive || (room && self.rng.chance(30)) {
            self.plan_creation();
            return;
        }
        let chosen = self.rng.below(alive as u64) as usize;
        let Some((key, body)) = self
            .existing
            .get(chosen)
            .and_then(|key| Some((key, body(key)?)))
        else {
            return;
        };
        let (namespace, name) = named(key);
        self.target = Some((namespace.to_owned(), name.to_owned()));
        let spare = alive > self.options.min_alive;
        let acts: &[Act] = match &*body.phase {
            "Succeeded" | "Failed" if spare => &[Act::Delete],
            "Running" => match self.rng.below(if spare { 10 } else { 5 }) {
                0..=2 => &[Act::Relabel, Act::Relabel],
                3 => &[Act::Relabel, Act::Relabel, Act::Relabel],
                4 => &[Act::Relabel],
                5 => &[Act::Finish],
                6 => &[Act::Finish, Act::Delete],
                7 => &[Act::Relabel, Act::Delete],
                // A StatefulSet's pod comes back under its name at once.
                8 => &[
                    Act::Relabel,
                    Act::Delete,
                    Act::Create,
                    Act::Advance,
                    Act::Advance,
                ],
                _ => &[Act::Delete],
            },
            "Pending" | "" => &[Act::Advance, Act::Advance],
            _ => &[Act::Relabel],
        };
        self.plan.extend(acts);
    }

    /// Plans a new object and some of its first steps.
    fn plan_creation(&mut self) {
        let free: Vec<_> = ROSTER
            .iter()
            .filter(|(namespace, name, _)| self.place((namespace, name)).is_err())
            .collect();
        let target = if !free.is_empty() && self.rng.chance(65) {
            let (namespace, name, _) = free[self.rng.below(free.len() as u64) as usize];
            ((*namespace).to_owned(), (*name).to_owned())
        } else {
            let (namespace, app) = DEPLOYMENTS[self.rng.below(DEPLOYMENTS.len() as u64) as usize];
            // Short names are easier to read; where they run out, longer ones are used.
            let mut names = 0x100;
            loop {
                let name = format!("{app}-{:02x}", self.rng.below(names));
                names = (names * 2).min(u64::from(u32::MAX));
                if self.place((namespace, &name)).is_err() {
                    break (namespace.to_owned(), name);
                }
            }
        };
        self.target = Some(target);
        self.plan.clear();
        self.plan.push_back(Act::Create);
        let steps = self.rng.below(4) as usize;
        self.plan.extend(
            [Act::Advance, Act::Advance, Act::Relabel]
                .iter()
                .take(steps),
        );
    }

    /// The next step of the plan that fits, if any.
    fn continue_burst(&mut self, body: &dyn Fn(&Key) -> Option<Body>) -> Option<Write> {
        let (namespace, name) = self.target.clone()?;
        let alive = self.existing.len();
        let place = self.place((&namespace, &name)).ok();
        let body = place.and_then(|place| body(self.existing.get(place)?));
        while let Some(act) = self.plan.pop_front() {
            let Some(body) = &body else {
                if act == Act::Create && alive < self.options.max_alive {
                    return Some(self.create());
                }
                continue;
            };
            let mut spec = PodSpec {
                namespace: namespace.clone(),
                name: name.clone(),
                labels: body.labels.clone(),
                node: body.node.to_string(),
                phase: body.phase.to_string(),
            };
            match (act, &*body.phase) {
                (Act::Advance, "Pending" | "") if spec.node.is_empty() => {
                    spec.node = self.one_of(&NODES).to_owned();
                    spec.phase = "Pending".to_owned();
                }
                (Act::Advance, "Pending" | "") => spec.phase = "Running".to_owned(),
                (Act::Relabel, _) => {
                    let now = spec.labels.get("app").map(String::as_str);
                    let others: Vec<&str> =
                        APPS.into_iter().filter(|&app| Some(app) != now).collect();
                    let app = self.one_of(&others).to_owned();
                    spec.labels.insert("app".to_owned(), app);
                }
                (Act::Finish, "Running") => {
                    let failed = self.rng.chance(30);
                    spec.phase = if failed { "Failed" } else { "Succeeded" }.to_owned();
                }
                (Act::Delete, _) if alive > self.options.min_alive => {
                    return Some(Write::Delete { namespace, name });
                }
                _ => continue,
            }
            return Some(Write::Update(spec.into_object()));
        }
        self.target = None;
        None
    }

    /// Creates the target as a pending pod.
    fn create(&self) -> Write {
        let (namespace, name) = self.target.clone().unwrap_or_default();
        let app = ROSTER
            .iter()
            .find(|(in_namespace, of_name, _)| *in_namespace == namespace && *of_name == name)
            .map(|(_, _, app)| *app)
            .or_else(|| name.split('-').next())
            .unwrap_or("web");
        Write::Create(
            PodSpec {
                labels: app_label(app),
                namespace,
                name,
                node: String::new(),
                phase: "Pending".to_owned(),
            }
            .into_object(),
        )
    }

    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let chosen = self.rng.below(choices.len() as u64) as usize;
        choices.get(chosen).copied().unwrap_or_default()
    }
}

fn app_label(app: &str) -> BTreeMap<String, String> {
    fill([("app".to_owned(), app.to_owned())])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::source::pod;
    use deltascope_cache::object::Object;

    type Existing = Vec<(Key, Body)>;

    fn key(namespace: &str, name: &str) -> Key {
        Key::from(format!("{namespace}/{name}"))
    }

    /// The next write to these objects.
    fn next(workload: &mut Workload, now: u64, existing: &Existing) -> (u64, Write) {
        workload.next(now, &|key| {
            let mut all = existing.iter();
            all.find(|(known, _)| known == key)
                .map(|(_, body)| body.clone())
        })
    }

    /// Applies a write and fails where a server would refuse it.
    fn apply(
        workload: &mut Workload,
        existing: &mut Existing,
        write: &Write,
    ) -> (Key, Option<Body>) {
        let (key, body) = match write {
            Write::Create(object) | Write::Update(object) => {
                pod::from_json(serde_json::to_value(object).unwrap()).unwrap();
                (
                    key(object.namespace(), object.name()),
                    Some(pod::body(object)),
                )
            }
            Write::Delete { namespace, name } => (key(namespace, name), None),
        };
        let place = existing.iter().position(|(known, _)| *known == key);
        match (write, place, &body) {
            (Write::Create(_), None, Some(body)) => existing.push((key.clone(), body.clone())),
            (Write::Update(_), Some(place), Some(body)) => {
                assert_ne!(
                    existing[place].1, *body,
                    "an update that changes nothing: {key}"
                );
                existing[place].1 = body.clone();
            }
            (Write::Delete { .. }, Some(place), None) => {
                existing.remove(place);
            }
            _ => panic!("refused: {write:?}"),
        }
        workload.note(&key, body.is_some());
        (key, body)
    }

    fn seeded(seed: u64) -> (Workload, Existing) {
        let mut workload = Workload::new(seed, Options::default());
        let mut existing = Vec::new();
        for spec in workload.start() {
            let write = Write::Create(spec.into_object());
            apply(&mut workload, &mut existing, &write);
        }
        (workload, existing)
    }

    #[test]
    fn every_write_is_accepted_and_the_cluster_keeps_its_size() {
        for seed in 0..20 {
            let (mut workload, mut existing) = seeded(seed);
            let mut now = 0;
            for _ in 0..2_000 {
                let (at, write) = next(&mut workload, now, &existing);
                assert!((12..=2_000).contains(&(at - now)), "{}", at - now);
                now = at;
                apply(&mut workload, &mut existing, &write);
                assert!((3..=6).contains(&existing.len()), "{}", existing.len());
            }
        }
    }

    #[test]
    fn the_workload_fills_an_empty_cluster() {
        let mut workload = Workload::new(3, Options::default());
        let mut existing = Vec::new();
        let mut now = 0;
        while existing.len() < 4 {
            let (at, write) = next(&mut workload, now, &existing);
            now = at;
            apply(&mut workload, &mut existing, &write);
            assert!(now < 60_000, "{existing:?}");
        }
    }

    #[test]
    fn the_writes_follow_from_the_seed_and_not_from_the_order_of_the_objects() {
        let run = |seed, reversed: bool| {
            let (mut workload, mut existing) = seeded(seed);
            if reversed {
                for (key, _) in &existing {
                    workload.note(key, false);
                }
                for (key, _) in existing.iter().rev() {
                    workload.note(key, true);
                }
            }
            let (mut now, mut made) = (0, Vec::new());
            for _ in 0..200 {
                let (at, write) = next(&mut workload.clone(), now, &existing);
                assert_eq!(next(&mut workload, now, &existing), (at, write.clone()));
                now = at;
                apply(&mut workload, &mut existing, &write);
                made.push((at, write));
            }
            made
        };
        assert_eq!(run(1, false), run(1, true));
        assert_ne!(run(1, false), run(2, false));
    }

    #[test]
    fn a_write_looks_at_one_object_however_many_there_are() {
        let mut workload = Workload::new(5, Options::default());
        let keys = (0..1_000).map(|n| key("default", &format!("pod-{n}")));
        let body = Body {
            phase: "Running".into(),
            ..Body::default()
        };
        for key in keys {
            workload.note(&key, true);
        }
        let looks = std::cell::Cell::new(0);
        for _ in 0..100 {
            workload.next(0, &|_| {
                looks.set(looks.get() + 1);
                Some(body.clone())
            });
        }
        // The object of the burst, the one of the next burst, and that one again for its first write.
        assert!(looks.get() <= 300, "{} looks", looks.get());
    }

    #[test]
    fn pods_follow_the_usual_life_cycle() {
        let (mut workload, mut existing) = seeded(11);
        let (mut now, mut longest, mut burst) = (0, 0, 1);
        let mut last: Option<Key> = None;
        let (mut phases, mut apps, mut namespaces) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (mut bursts, mut returned) = (0, 0);
        let mut deleted = None;
        for _ in 0..2_000 {
            let (at, write) = next(&mut workload, now, &existing);
            let before = existing.clone();
            let (key, body) = apply(&mut workload, &mut existing, &write);
            if at - now <= 100 && last.as_ref() == Some(&key) {
                burst += 1;
                bursts += usize::from(burst == 2);
            } else {
                assert!(at - now >= 600, "a burst stays with its key: {key}");
                burst = 1;
            }
            longest = longest.max(burst);
            returned += usize::from(deleted.as_ref() == Some(&key) && body.is_some());
            deleted = body.is_none().then(|| key.clone());
            namespaces.insert(key.split_once('/').unwrap().0.to_owned());
            if let Some(body) = &body {
                apps.insert(body.labels["app"].clone());
                if let Some((_, old)) = before.iter().find(|(known, _)| *known == key) {
                    if !old.node.is_empty() {
                        assert_eq!(old.node, body.node, "{key} moved");
                    }
                    phases.insert((old.phase.to_string(), body.phase.to_string()));
                }
            }
            (now, last) = (at, Some(key));
        }
        let text = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        for step in [
            text("Pending", "Pending"),
            text("Pending", "Running"),
            text("Running", "Succeeded"),
            text("Running", "Failed"),
        ] {
            assert!(phases.contains(&step), "{step:?}");
        }
        assert!(!phases.contains(&text("Running", "Pending")));
        assert!(!phases.contains(&text("Succeeded", "Running")));
        assert!(APPS.iter().all(|app| apps.contains(*app)), "{apps:?}");
        assert!(
            namespaces.iter().eq(["default", "kube-sys", "shop"]),
            "{namespaces:?}"
        );
        assert!(bursts > 300, "{bursts}");
        assert!(longest >= 4, "{longest}");
        assert!(returned > 10, "{returned}");
    }
}
