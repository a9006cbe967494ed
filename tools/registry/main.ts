/** Serves the packages of this checkout as an npm registry, as long as they are not on npm. Needs `--conditions=@millwright/source`. */
import { readCommandLine } from "../command-line.ts";
import { startLocalRegistry } from "../local-registry.ts";
import { driverPackages } from "./driver-packages.ts";

const usage = `usage: npm run registry

Builds the packages of this checkout that a driver needs, serves them as an npm registry, and prints its address.
It has no other packages but those that they depend on.`;

readCommandLine({ usage });
console.error("building the packages: takes a minute where they have changed");
const registry = await startLocalRegistry(await driverPackages());
console.log(`In the terminal in which you write the driver:
  export npm_config_registry=${registry.url}
Ctrl-C stops the registry.`);
await new Promise((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve);
});
await registry.close();
