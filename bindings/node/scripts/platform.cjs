// The name of this platform, as used in the names of native modules and of their packages.
'use strict';

function platformName() {
  const { platform, arch } = process;
  if (platform !== 'linux') return platform === 'win32' ? `win32-${arch}-msvc` : `${platform}-${arch}`;
  const { glibcVersionRuntime } = process.report.getReport().header;
  return `linux-${arch}-${glibcVersionRuntime ? 'gnu' : 'musl'}`;
}

module.exports = { platformName };
