import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { builtBinary, cacheFolder } from "./build-binary.ts";
import { isCannotBuildError } from "./cannot-build-error.ts";
import { script, temporaryFolder } from "./testing/temporary-folder.ts";
import { modules, sourceHash, versionOf } from "./versions.ts";

/** A fake Go: writes its build arguments to the file after `-o`. */
const compiler = 'while [ "$1" != "-o" ]; do shift; done; echo "built $3" > "$2"; chmod +x "$2"';

test("builds a program once for concurrent callers", async () => {
  const cache = await temporaryFolder();
  const go = await script(cache, "go", compiler);
  const builds: string[] = [];
  const options = { cache, go, onBuild: (program: string, version: string) => builds.push(`${program} ${version}`) };
  const paths = await Promise.all([builtBinary("kube-apiserver", options), builtBinary("kube-apiserver", options)]);
  const path = join(cache, `kubernetes-${versionOf("kubernetes")}`, "kube-apiserver");
  expect(paths).toEqual([path, path]);
  expect(await readFile(path, "utf8")).toBe("built ./kube-apiserver\n");
  expect(builds).toEqual([`kube-apiserver ${versionOf("kubernetes")}`]);
});

test("uses the cache without Go", async () => {
  const cache = await temporaryFolder();
  const folder = join(cache, `etcd-${versionOf("etcd")}`);
  await mkdir(folder);
  const path = await script(folder, "etcd", "");
  expect(await builtBinary("etcd", { cache, go: "/nowhere/go" })).toBe(path);
});

test("builds MCM's programs again when our sources of them change", async () => {
  const cache = await temporaryFolder();
  const go = await script(cache, "go", compiler);
  const { folder } = modules["go-mcm"];
  const copy = await temporaryFolder();
  await cp(folder, copy, { recursive: true });
  const hash = sourceHash(copy);
  expect(hash).toBe(sourceHash(folder));
  const path = await builtBinary("machine-controller", { cache, go });
  expect(path).toBe(join(cache, `go-mcm-${versionOf("go-mcm")}-${hash}`, "machine-controller"));
  await writeFile(join(copy, "mockcloud", "driver.go"), "package main");
  expect(sourceHash(copy)).not.toBe(hash);
});

test("reports in one line that Go is missing and what to do", async () => {
  const cache = await temporaryFolder();
  const building = builtBinary("etcd", { cache, go: "/nowhere/go" });
  await expect(building).rejects.toSatisfy(isCannotBuildError);
  await expect(building).rejects.toThrow(
    /^control plane: etcd v[\d.]+ cannot be built: [^\n]*\/nowhere\/go[^\n]*; install Go [^\n]*KUBEBUILDER_ASSETS$/,
  );
});

test("reports in one line that a module is not available, and leaves neither a lock nor a partial program", async () => {
  const cache = await temporaryFolder();
  const go = await script(
    cache,
    "go",
    'echo "go: downloading" >&2; echo "go: module example: no such host" >&2; exit 1',
  );
  const building = builtBinary("kube-controller-manager", { cache, go });
  await expect(building).rejects.toThrow(
    /^control plane: kube-controller-manager v[\d.]+ cannot be built: go: module example: no such host; [^\n]*$/,
  );
  expect((await readdir(cache)).toSorted()).toEqual(["go", `kubernetes-${versionOf("kubernetes")}`]);
  expect(await readdir(join(cache, `kubernetes-${versionOf("kubernetes")}`))).toEqual([]);
});

test("ends an aborted build with the signal's reason", async () => {
  const cache = await temporaryFolder();
  const go = await script(cache, "go", "exec sleep 60");
  const given = new AbortController();
  const options = { cache, go, signal: given.signal, onBuild: () => given.abort(new Error("not now")) };
  await expect(builtBinary("etcd", options)).rejects.toThrow("not now");
});

test("keeps builds outside of the repository", () => {
  expect(cacheFolder({ XDG_CACHE_HOME: "/cache" })).toBe("/cache/millwright/control-plane");
  expect(cacheFolder({})).toMatch(/\.cache\/millwright\/control-plane$/);
});

test("the command prints that one line and nothing else, and exits with 1", async () => {
  const folder = await temporaryFolder();
  await script(folder, "go", 'echo "go: no module" >&2; exit 1');
  const main = fileURLToPath(new URL("./main.ts", import.meta.url));
  const env = { PATH: `${folder}:${process.env["PATH"] ?? ""}`, XDG_CACHE_HOME: folder, HOME: dirname(folder) };
  const child = spawn(process.execPath, [main, "build"], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  expect(code).toBe(1);
  expect(out).toBe("");
  const lines = err.trim().split("\n");
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^building etcd v[\d.]+ with Go/);
  expect(lines[1]).toMatch(/^control plane: etcd v[\d.]+ cannot be built: go: no module; /);
});
