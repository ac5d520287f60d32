//! The types that cross the border. Their layouts are frozen within an ABI major version. Only two
//! changes are allowed: a method may be added to a trait after its `last_prefix_field`, with a default
//! for implementations that lack it; and a field may be added to `PluginModule`, where it is an
//! `Option`.
#![expect(
    unreachable_pub,
    unused_qualifications,
    clippy::pedantic,
    clippy::expl_impl_clone_on_copy,
    reason = "the items are written by abi_stable's macros, and private"
)]
#![allow(
    clippy::allow_attributes,
    dead_code,
    non_local_definitions,
    reason = "written by abi_stable's macros; which lints they meet depends on the compiler"
)]

use abi_stable::StableAbi;
use abi_stable::library::RootModule;
use abi_stable::package_version_strings;
use abi_stable::sabi_trait;
use abi_stable::sabi_types::{RRef, VersionStrings};
use abi_stable::std_types::{RBox, RResult, RStr, RString, RVec};

/// `ToolOutput` as it crosses the border. The metadata is a JSON object; an empty text means `{}`.
#[repr(C)]
#[derive(StableAbi)]
pub struct ROutput {
    pub title: RString,
    pub metadata: RString,
    pub output: RString,
}

/// `ToolError` as it crosses the border. The code may be a number that this version does not know.
#[repr(C)]
#[derive(StableAbi)]
pub struct RError {
    pub code: u32,
    pub message: RString,
}

/// A tool's calls to its host. `request` carries JSON both ways; its error is a message.
#[sabi_trait]
pub trait RHost: Send + Sync {
    fn is_cancelled(&self) -> bool;
    fn progress(&self, fraction: f64, message: RStr<'_>);
    fn log(&self, level: u8, message: RStr<'_>);
    #[sabi(last_prefix_field)]
    fn request(&self, method: RStr<'_>, params: RStr<'_>) -> RResult<RString, RString>;
}

/// A toolset. `describe` returns a `ToolsetDescription` as JSON.
#[sabi_trait]
pub trait RToolset: Send + Sync {
    fn describe(&self) -> RString;
    #[sabi(last_prefix_field)]
    fn call(
        &self,
        tool: RStr<'_>,
        arguments: RStr<'_>,
        host: RHost_TO<'_, RRef<'_, ()>>,
    ) -> RResult<ROutput, RError>;
}

pub type BoxedToolset = RToolset_TO<'static, RBox<()>>;

/// A class, and the function that creates its toolsets from a configuration in JSON.
#[repr(C)]
#[derive(StableAbi)]
pub struct RToolsetClass {
    pub name: RStr<'static>,
    pub create: extern "C" fn(RStr<'_>) -> RResult<BoxedToolset, RError>,
}

/// The exports of a plugin.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginModuleRef)), missing_field(option))]
pub struct PluginModule {
    #[sabi(last_prefix_field)]
    pub classes: extern "C" fn() -> RVec<RToolsetClass>,
}

impl RootModule for PluginModuleRef {
    abi_stable::declare_root_module_statics! {PluginModuleRef}

    const BASE_NAME: &'static str = "repertoire_plugin";
    const NAME: &'static str = "repertoire_plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}
