/**
 * All of `npm run bench:kube`: the toolkit, then the devcluster, each in a process of its own, both whatever the first one finds. Exits with 1 when
 * either missed an aim or failed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { readCommandLine } from "../command-line.ts";

readCommandLine({
  usage: `usage: npm run bench:kube

Measures the caches and the client of packages/kube, then the devcluster; status 1 if one of them misses an aim. Takes some minutes.`,
});
process.exitCode = 0;
for (const program of ["kube.ts", "devcluster.ts"]) {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@millwright/source", path], { stdio: "inherit" });
  const [code] = await once(child, "exit");
  if (code !== 0) process.exitCode = 1;
}
