import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ForeignTool } from "./foreign-tools.ts";
import { type MillwrightProcess, startMillwright } from "./millwright.ts";

/** The Helm chart. */
export const chart = fileURLToPath(new URL("../../charts/millwright", import.meta.url));

/** Where a pod of the release would run, which no test has: its kubelet and its network. */
export interface PodPlace {
  /** Path of a kubeconfig with the credential of the service account of the release. */
  readonly kubeconfig: string;
  readonly port: number;
}

/** The arguments of the container in the Deployment of a release. */
export async function containerArguments(kubectl: ForeignTool, namespace: string): Promise<readonly string[]> {
  const path = "jsonpath={.spec.template.spec.containers[0].args}";
  const args: unknown = JSON.parse(await kubectl(["-n", namespace, "get", "deployment", "millwright", "-o", path]));
  return Array.isArray(args) ? args.map(String) : [];
}

/** Starts the container of a release as a process: with its arguments, but its credential and its port are given. */
export async function startContainer(
  kubectl: ForeignTool,
  namespace: string,
  { kubeconfig, port }: PodPlace,
): Promise<MillwrightProcess> {
  const args = await containerArguments(kubectl, namespace);
  const at = (name: string): number => {
    const index = args.findIndex((arg) => arg.startsWith(`--${name}=`));
    if (index === -1) throw new Error(`the container has no --${name}: ${args.join(" ")}`);
    return index;
  };
  return startMillwright(
    args
      .with(at("control-kubeconfig"), `--control-kubeconfig=${kubeconfig}`)
      .with(at("port"), `--port=${port}`)
      .concat("--address=127.0.0.1"),
  );
}

/** Writes a kubeconfig with a token that the API server issues for the service account of a release; `ca` is PEM. */
export async function writeServiceAccountKubeconfig(
  kubectl: ForeignTool,
  folder: string,
  { url, ca, namespace }: { readonly url: string; readonly ca: string; readonly namespace: string },
): Promise<string> {
  const token = (await kubectl(["-n", namespace, "create", "token", "millwright"])).trim();
  const file = join(folder, "service-account.kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "pod",
    clusters: [
      { name: "pod", cluster: { server: url, "certificate-authority-data": Buffer.from(ca).toString("base64") } },
    ],
    users: [{ name: "pod", user: { token } }],
    contexts: [{ name: "pod", context: { cluster: "pod", user: "pod", namespace } }],
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
