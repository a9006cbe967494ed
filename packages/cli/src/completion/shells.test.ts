import { execFile, spawnSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { crds, machineDeploymentResource } from "@millwright/core/machine-api";
import { type ApiServer, createApiServer, kubeconfigFor } from "@millwright/devcluster";
import { createApiClient, customResourceDefinitionResource } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

const bin = fileURLToPath(new URL("../bin.ts", import.meta.url));

/** How each shell is asked what it would complete. */
const askers: Readonly<Record<string, (words: readonly string[]) => string>> = {
  bash: (words) => `
    source <(millwright completion bash)
    complete -p millwright >&2
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
    _millwright 2>/dev/null
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Without a terminal, what shows the words is replaced.
  zsh: (words) => `
    autoload -Uz compinit; compinit -D -u
    source <(millwright completion zsh)
    _describe() { local -a all; all=("\${(@P)2}"); print -rl -- "\${(@)all%%:*}" }
    words=(${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length}
    _millwright`,
  fish: (words) => `
    millwright completion fish | source
    complete -C "${words.join(" ")}" | string replace -r '\\t.*' ''
    true`,
};

const patiently = { timeout: 90_000, interval: 100 };

describe.each(Object.keys(askers))("completion in %s", (shell) => {
  const isThere = spawnSync(shell, ["--version"]).status === 0;
  let folder: string;
  let server: ApiServer;
  let kubeconfig: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-completion-"));
    const command = join(folder, "millwright");
    await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' --conditions=@millwright/source '${bin}' "$@"\n`);
    await chmod(command, 0o755);
    server = createApiServer();
    const { url } = await server.listen();
    kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigFor(url, {}));
    const api = createApiClient({ server: url }, {});
    for (const crd of crds())
      await api.create(customResourceDefinitionResource, { ...crd, metadata: { name: crd.metadata.name } });
    for (const name of ["pool-a", "pool-b", "other"])
      await api.create(machineDeploymentResource, {
        metadata: { name, namespace: "default" },
        spec: {
          selector: { matchLabels: { name } },
          template: { metadata: { labels: { name } }, spec: { class: { kind: "MachineClass", name: "small" } } },
        },
      });
    await api.close();
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}`, KUBECONFIG: kubeconfig };
    const script = askers[shell]?.(["millwright", ...words]) ?? "";
    const { stdout } = await promisify(execFile)(shell, ["-c", script], { env });
    return stdout.split("\n").filter((line) => line !== "");
  };

  it.skipIf(!isThere)("names commands, flags, values and objects of the cluster", async () => {
    expect((await complete("de")).toSorted()).toEqual(["describe", "dev"]);
    expect(await complete("why", "--out")).toEqual(["--output"]);
    expect(await complete("completion", "f")).toEqual(["fish"]);
    // Names that a busy computer has too late are left out.
    await vi.waitFor(async () => {
      expect(await complete("why", "md/pool")).toEqual(["md/pool-a", "md/pool-b"]);
      expect(await complete("describe", "deployment", "-n", "default", "o")).toEqual(["other"]);
    }, patiently);
  });

  it.skipIf(!isThere)("names nothing where the cluster does not answer", async () => {
    expect(await complete("why", "--context", "none", "md/pool")).toEqual([]);
  });
});
