//! The messages of the session about a command: errors, and effects that the picture does not show.

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{Fact, Refusal, ServerFact, Verb};
use deltascope_replay::lessons;
use deltascope_replay::step_size::StepSize;
use deltascope_replay::trace::MAX_INPUTS;
use deltascope_world::bounds::shortened;
use deltascope_world::text;

use crate::strings::story::client_go;
use deltascope_world::text::Text;

pub(super) fn refusal(fact: &Fact) -> Option<Text> {
    let Fact::Server(ServerFact::WriteRefused { verb, key, refusal }) = fact else {
        return None;
    };
    Some(match (verb, refusal) {
        (_, Refusal::AlreadyExists) => text!(
            "{key} exists already (409 AlreadyExists). Choose another name, or edit it.",
            "{key} 已存在（409 AlreadyExists）。请换个名字，或编辑它。"
        ),
        (Verb::Delete, Refusal::NotFound) => text!(
            "There is no {key} to delete (404 NotFound).",
            "没有可删除的 {key}（404 NotFound）。"
        ),
        (_, Refusal::NotFound) => text!(
            "There is no {key} to change (404 NotFound). Create it first.",
            "没有可修改的 {key}（404 NotFound）。请先创建。"
        ),
        (_, Refusal::Invalid(_)) => Text::new(
            "A recording cannot be written to. Open a lesson or the sandbox to write objects.",
            "录制的流不能写入。请打开某个课程或沙盒再写对象。",
        ),
    })
}

pub(super) fn no_era(era: &str) -> Text {
    let known: Vec<_> = Generation::ALL.map(Generation::version).into();
    text!(
        (
            "There is no generation {era:?}. There are: {}.",
            known.join(", ")
        ),
        ("没有实现版本 {era:?}。现有：{}。", known.join("、"))
    )
}

/// From when on a switch of KnownObjects applies.
pub(super) fn from_here(on: bool) -> Text {
    let (en, zh) = if on {
        ("on", "打开")
    } else {
        ("off", "关闭")
    };
    text!(
        "KnownObjects is {en} from here on. Start over (R) to run all of it so.",
        "KnownObjects 从此刻起{zh}。重新开始（R）可让整个运行都这样。"
    )
}

/// From when on a switch of the generation applies.
pub(super) fn from_the_start(generation: Generation) -> Text {
    let release = client_go(generation);
    text!(
        "All of the run was computed again as {release} does it, from the start; what you did happens at the same times.",
        "整个运行已从头按 {release} 重新计算；你的操作仍发生在相同的时间。"
    )
}

/// The answer to the choice of a generation where the program has none.
pub fn hand_made() -> Text {
    Text::new(
        "This program puts its queue together by hand: it is the same in every generation. Open a lesson with an informer.",
        "这个程序自己搭建队列，在每个实现版本里都一样。请打开一个有 informer 的课程。",
    )
}

pub(super) fn cannot_run(reason: &str) -> Text {
    text!("{reason}", "无法运行：{reason}")
}

pub(super) fn no_watch() -> Text {
    Text::new(
        "There is no open watch to cut at this moment. Step on until the Reflector watches.",
        "此刻没有打开的 watch 可以切断。请前进到 Reflector 开始 watch 之后。",
    )
}

pub(super) fn nothing_open() -> Text {
    Text::new(
        "No watch is open at this moment: there is none to send anything over, or to close. Step on until the Reflector watches.",
        "此刻没有打开的 watch：既不能用它发送，也无从关闭。请前进到 Reflector 开始 watch 之后。",
    )
}

pub(super) fn no_handler() -> Text {
    Text::new(
        "There is no such handler any more, or it is being removed already.",
        "没有这个 handler，或它已经在移除中。",
    )
}

pub(super) fn no_history() -> Text {
    Text::new(
        "There is no simulated API server here whose history could be forgotten. Open the sandbox.",
        "这里没有模拟的 API server,没有可以丢弃的历史。请打开沙盒。",
    )
}

pub(super) fn object_not_watched() -> Text {
    Text::new(
        "No watch is open at this moment, so nothing would tell of the object. Go to a moment at which the Reflector watches.",
        "此刻没有打开的 watch，写入的对象不会有人知道。请到 Reflector 正在 watch 的时刻再写。",
    )
}

pub(super) fn full(most: usize) -> Text {
    text!(
        "No more than {most} facts are kept, and here they end. Go back, or reset.",
        "最多保留 {most} 个事实，到此为止。请后退，或重置。"
    )
}

pub(super) fn too_many_inputs() -> Text {
    text!(
        "No more than {MAX_INPUTS} inputs are kept, so that the run can be opened again. Go back, or reset.",
        "最多保留 {MAX_INPUTS} 个输入，这样运行才能再次打开。请后退，或重置。"
    )
}

pub(super) fn not_held() -> Text {
    Text::new(
        "The process loop pops by itself. Set it to held, then pop by hand.",
        "处理循环会自己 Pop。请先设为手动，再逐个 Pop。",
    )
}

pub(super) fn no_size(size: &str) -> Text {
    let sizes = StepSize::ALL.map(StepSize::id).join(", ");
    text!(
        "step: there is no size {size:?}. Write one of: {sizes}.",
        (
            "step：没有 {size:?} 这种步长。可选：{}。",
            sizes.replace(", ", "、")
        )
    )
}

pub(super) fn no_op(op: &str) -> Text {
    text!(
        "inject: there is no op {op:?}. Use create, update, delete or cut.",
        "inject：没有操作 {op:?}。可用 create、update、delete 或 cut。"
    )
}

pub(super) fn no_story() -> Text {
    Text::new(
        "This lesson has no story. Choose one from the shelf.",
        "这一课没有故事。请从课程架上选一课。",
    )
}

/// A link asks for a scene or for the handout, and only the library's lessons have theirs in the page.
pub(super) fn no_story_in_link() -> Text {
    Text::new(
        "The link asks for a story, and this run has none: here is the run alone. A lesson of one's own is shared as its file.",
        "链接要打开故事，而此运行没有故事，这里只显示运行本身。自己写的课程请以文件分享。",
    )
}

/// A story is asked for by an attribute, and the lesson has none.
pub(super) fn no_story_for(quiz: bool) -> Text {
    let mode = if quiz { "quiz" } else { "story" };
    let ids = lessons::told().join(", ");
    text!(
        "mode={mode}: this lesson has no story. Choose one that has ({ids}), or leave out mode and scene.",
        (
            "mode={mode}：这一课没有故事。请选一课有故事的（{}），或者去掉 mode 和 scene。",
            ids.replace(", ", "、")
        )
    )
}

/// A quiz is asked for, and no scene asks anything.
pub(super) fn no_question() -> Text {
    Text::new(
        "mode=quiz: this lesson's story asks nothing. Write mode=story.",
        "mode=quiz：这一课的故事里没有提问。请写 mode=story。",
    )
}

pub(super) fn no_scene(scene: usize, scenes: usize) -> Text {
    text!(
        "scene={scene}: the story has {scenes} scenes. Write 1 to {scenes}.",
        "scene={scene}：这个故事有 {scenes} 个场景。请写 1 到 {scenes}。"
    )
}

/// A script answers a scene that asks nothing.
pub(super) fn nothing_asked() -> Text {
    Text::new(
        "answer: nothing is asked here. Go on with next().",
        "answer：这里没有提问。请用 next() 继续。",
    )
}

/// A script's answer does not fit the question.
pub(super) fn no_answer(value: &str, en: &str, zh: &str) -> Text {
    let value = shortened(value);
    text!(
        "answer: {value} is no answer to this question. Give {en}, or null to be shown it.",
        "answer：{value} 不能回答这个问题。请给{zh}；给 null 则直接显示答案。"
    )
}

pub(super) fn wrong_story(error: &str) -> Text {
    text!(
        "The lesson's story cannot be read: {error}.",
        "无法读取这一课的故事：{error}。"
    )
}

/// The run does not come to a scene's moment in this generation.
pub(super) fn not_told_here(eras: &[Generation]) -> Text {
    // Whoever wrote an attribute has to write another one.
    let named = |era: &Generation| format!("{} (era {})", client_go(*era), era.version());
    let eras: Vec<String> = eras.iter().map(named).collect();
    text!(
        (
            "In this generation the run does not come to that scene. Choose {}.",
            eras.join(" or ")
        ),
        (
            "在这个实现版本中，运行到不了该场景。请选择 {}。",
            eras.join(" 或 ")
        )
    )
}

pub(super) fn not_live() -> Text {
    Text::new(
        "No cluster is connected. Connect to one first.",
        "没有连接集群。请先连接。",
    )
}

pub(super) fn while_live() -> Text {
    Text::new(
        "The cluster is being recorded, and a recording has one past. Disconnect first: what came stays, and can be forked and changed.",
        "集群正在录制中，录制只有一个过去。请先断开：已收到的内容会保留，可以分叉和修改。",
    )
}

pub(super) fn only_looked_at() -> Text {
    Text::new(
        "A real cluster is only looked at: nothing is written to it from here. Disconnect first: what came stays, and can be changed.",
        "真实的集群只供查看：这里不会向它写入任何内容。请先断开：已收到的内容会保留，可以修改。",
    )
}

pub(super) fn not_at_the_edge() -> Text {
    Text::new(
        "That happens now, and you are looking at the past. Go to the live edge first, or disconnect.",
        "这会发生在现在，而你正在看过去。请先回到实时位置，或断开连接。",
    )
}
