//! The target of lists and watches.

use kube_core::discovery::ApiResource;
use kube_core::{GroupVersionKind, TypeMeta};

use crate::source::pod::{Keep, is_dns_label};
use crate::text;
use crate::text::Text;
use deltascope_cache::selector::Selector;

/// The longest selector, in bytes: the request line must stay below the 64 KiB that servers accept.
const MAX_SELECTOR: usize = 8 << 10;
/// The longest part of an API path: a DNS subdomain.
const MAX_NAME: usize = 253;

/// A kind of object that an API server offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resource {
    /// API group; empty for the core group.
    pub group: String,
    /// API version of the group.
    pub version: String,
    /// Kind: `Pod`.
    pub kind: String,
    /// Plural name: `pods`.
    pub plural: String,
    /// Singular name: `pod`; may be empty.
    pub singular: String,
    /// Short names: `po`.
    pub short_names: Vec<String>,
    /// Whether its objects belong to namespaces.
    pub namespaced: bool,
    /// The supported verbs: `list`, `watch`.
    pub verbs: Vec<String>,
}

/// `pods`, `deployments.apps`: the name in errors and in kubectl.
#[must_use]
pub fn name_of(plural: &str, group: &str) -> String {
    let dot = if group.is_empty() { "" } else { "." };
    [plural, dot, group].concat()
}

/// The group of an `apiVersion`; empty for the core group.
#[must_use]
pub fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

impl Resource {
    /// The resource as kube-core's type.
    #[must_use]
    pub(crate) fn api_resource(&self) -> ApiResource {
        let kind = GroupVersionKind::gvk(&self.group, &self.version, &self.kind);
        ApiResource::from_gvk_with_plural(&kind, &self.plural)
    }

    /// `pods`, `deployments.apps`: the name in errors and in kubectl.
    #[must_use]
    pub fn name(&self) -> String {
        name_of(&self.plural, &self.group)
    }

    /// Whether the data of its objects must be dropped.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.group.is_empty() && matches!(&*self.plural, "secrets" | "configmaps")
    }
}

/// The kind, the place and the selectors of lists and watches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The address of the API: `/` or `/k8s/` in a page, `http://127.0.0.1:8001/` elsewhere. It ends in `/`.
    pub base: String,
    /// The kind of object.
    pub resource: Resource,
    /// Only objects of this namespace; `None` for all namespaces.
    pub namespace: Option<String>,
    /// Only objects that match this label selector; empty for all.
    pub label_selector: String,
    /// Only objects that match this field selector; empty for all.
    pub field_selector: String,
    /// Whether only metadata is requested, without spec and status.
    pub metadata_only: bool,
}

impl Target {
    /// Checks that the target can be requested.
    ///
    /// # Errors
    /// States what is wrong, and what to do.
    pub fn check(&self) -> Result<(), Text> {
        base(&self.base)?;
        let Resource {
            group,
            version,
            plural,
            ..
        } = &self.resource;
        let parts = [plural, version].into_iter();
        if parts
            .chain(Some(group).filter(|group| !group.is_empty()))
            .any(|part| !is_path_part(part))
        {
            return Err(Text::new(
                "The resource has no usable name. Choose one that the API server offers.",
                "资源没有可用的名称。请选择 API server 提供的资源。",
            ));
        }
        if let Some(namespace) = &self.namespace {
            if !self.resource.namespaced {
                let name = self.resource.name();
                return Err(text!(
                    "{name} are not in namespaces. Leave the namespace out.",
                    "{name} 不属于命名空间。请不要指定命名空间。"
                ));
            }
            if !is_dns_label(namespace) {
                return Err(Text::new(
                    "The namespace is not a DNS label: use a-z, 0-9 and -, at most 63 characters. Leave it empty for all namespaces.",
                    "命名空间不是 DNS 标签：只能用 a-z、0-9 和 -，最多 63 个字符。留空表示所有命名空间。",
                ));
            }
        }
        if self.label_selector.len().max(self.field_selector.len()) > MAX_SELECTOR {
            return Err(text!(
                "A selector has more than {MAX_SELECTOR} bytes. Use a shorter one.",
                "选择器超过 {MAX_SELECTOR} 字节。请使用更短的选择器。"
            ));
        }
        if let Err(error) = Selector::parse(&self.label_selector) {
            return Err(text!(
                "The label selector cannot be read: {error}. Write it like app=web,tier!=cache.",
                "标签选择器无法读取：{error}。写法如 app=web,tier!=cache。"
            ));
        }
        Ok(())
    }

    /// The parts of an object that are kept.
    pub(super) fn keep(&self) -> Keep {
        Keep {
            redacted: self.resource.is_secret(),
            metadata_only: self.metadata_only,
        }
    }

    /// The type of list items, which come without one.
    pub(super) fn types(&self) -> TypeMeta {
        if self.metadata_only {
            return TypeMeta {
                api_version: "meta.k8s.io/v1".to_owned(),
                kind: "PartialObjectMetadata".to_owned(),
            };
        }
        let ApiResource {
            api_version, kind, ..
        } = self.resource.api_resource();
        TypeMeta { api_version, kind }
    }
}

/// Checks and completes an API's address as a user typed it: a path of this page, or a URL.
///
/// # Errors
/// The text is neither a path nor a URL.
pub fn base(text: &str) -> Result<String, Text> {
    let text = text.trim();
    let path = match text.split_once("://") {
        Some(("http" | "https", rest)) if !rest.is_empty() && !rest.starts_with('/') => Some(rest),
        Some(_) => None,
        None => Some(text)
            .filter(|text| text.is_empty() || text.starts_with('/') && !text.starts_with("//")),
    };
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~:[]@%".contains(&byte);
    if path.is_none_or(|path| !path.bytes().all(usual)) {
        return Err(Text::new(
            "This is no address of an API. Give a path of this server such as /k8s/, or an address such as http://127.0.0.1:8001/.",
            "这不是 API 的地址。请填写本服务器上的路径（如 /k8s/），或地址（如 http://127.0.0.1:8001/）。",
        ));
    }
    Ok(format!("{}/", text.trim_end_matches('/')))
}

fn is_path_part(text: &str) -> bool {
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    !text.is_empty() && text.len() <= MAX_NAME && text.bytes().all(usual) && !text.starts_with('.')
}
