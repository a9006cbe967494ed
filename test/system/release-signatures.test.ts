import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { root } from "../../tools/release/packages.ts";
import { helmPath } from "../harness/foreign-tools.ts";
import { startOciRegistry } from "../harness/oci-registry.ts";

interface Workflow {
  readonly defaults: { readonly run: { readonly shell: string } };
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
}
const workflow = parse(await readFile(join(root, ".github/workflows/release.yaml"), "utf8")) as Workflow;
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };

/** Runs the steps of a job that call these programs, as GitHub does, with other programs in front of the real ones. Resolves with the calls of cosign. */
async function runJob(job: string, programs: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-signatures-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const calls = join(folder, "calls");
  // Only a run of GitHub has the identity that cosign signs with.
  const scripts = { cosign: `[[ $1 != login ]] || cat > /dev/null\necho "$@" >> ${calls}`, ...programs };
  for (const [name, script] of Object.entries(scripts))
    await writeFile(join(folder, name), `#!/usr/bin/env bash\nset -e\n${script}\n`, { mode: 0o755 });
  const env = {
    ...process.env,
    PATH: `${folder}:${process.env["PATH"] ?? ""}`,
    HOME: folder,
    RUNNER_TEMP: folder,
    GITHUB_REPOSITORY: "owner/millwright",
    GITHUB_REF_NAME: `v${version}`,
    GITHUB_ACTOR: "someone",
    REGISTRY: "ghcr.io/owner/millwright",
    TOKEN: "token",
  };
  const called = new RegExp(`^(${Object.keys(scripts).join("|")}) `);
  for (const { run = "" } of workflow.jobs[job]?.steps ?? [])
    if (called.test(run)) {
      const command = run.replaceAll("${{ matrix.driver }}", "aws");
      const shell = ["--noprofile", "--norc", "-eo", "pipefail", "-c", command];
      await promisify(execFile)("bash", shell, { cwd: root, env });
    }
  return (await readFile(calls, "utf8")).trim().split("\n");
}

it.each(["helm3", "helm"] as const)("the chart is signed by the digest that %s has pushed", async (tool) => {
  const registry = await startOciRegistry();
  onTestFinished(registry.close);
  const real = await helmPath(tool);
  const helm = `case $1 in
  registry) cat > /dev/null ;;
  push) exec ${real} push "$2" "\${3/ghcr.io/${registry.host}}" --plain-http ;;
  *) exec ${real} "$@" ;;
esac`;
  expect(workflow.defaults.run.shell).toBe("bash");
  const calls = await runJob("chart", { helm });
  const digest = registry.manifests.get(`owner/millwright/charts/millwright:${version}`);
  expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(calls).toEqual([
    "login ghcr.io -u someone --password-stdin",
    `sign --yes ghcr.io/owner/millwright/charts/millwright@${digest}`,
  ]);
});

it("an image is signed by the digest that podman has pushed", async () => {
  const digest = `sha256:${"a".repeat(64)}`;
  const podman = `case $1 in login) cat > /dev/null ;; push) echo -n ${digest} > "$3" ;; esac`;
  expect(await runJob("images", { podman })).toEqual([
    "login ghcr.io -u someone --password-stdin",
    `sign --yes ghcr.io/owner/millwright/millwright-aws@${digest}`,
  ]);
});
