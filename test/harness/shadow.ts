import { requiredRoles } from "@millwright/core/machine-api";
import { kubeconfigFor } from "@millwright/devcluster";
import type { ApiClient } from "@millwright/kube";
import { writeFile } from "node:fs/promises";
import { grantRoles } from "./grant-roles.ts";
import { type MillwrightProcess, startMillwright } from "./millwright.ts";

/** A line of the log of `millwright run --shadow`. */
export type ShadowLine = Readonly<Record<string, unknown>>;

/** The last report in the log of a shadow: its counts, and its lines about differences and unintended actions. */
export function lastReportOf(output: string): { readonly counts: ShadowLine; readonly lines: readonly ShadowLine[] } {
  const lines = output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line): ShadowLine => JSON.parse(line));
  const at = lines.findLastIndex(({ msg }) => msg === "Shadow report");
  return {
    counts: lines[at] ?? {},
    lines: lines.slice(at + 1).filter(({ msg }) => String(msg).startsWith("Shadow report: ")),
  };
}

/** Where a shadow runs. */
export interface ShadowPlace {
  /** Of an administrator, to create its roles. */
  readonly api: ApiClient;
  /** Of the API server, or of a proxy that records what it sends. */
  readonly url: string;
  /** Of an administrator, who may impersonate the user of the shadow. */
  readonly token: string;
  /** File in which its kubeconfig is written. */
  readonly kubeconfig: string;
}

const user = "millwright-shadow";

/** Starts a shadow with the mock driver and the roles of `millwright roles --shadow`, and no others. */
export async function startShadow(
  { api, url, token, kubeconfig }: ShadowPlace,
  ...flags: readonly string[]
): Promise<MillwrightProcess> {
  const roles = (["control", "target"] as const).flatMap((each) => requiredRoles(each, "default", { isShadow: true }));
  await grantRoles(api, user, roles);
  const impersonating = kubeconfigFor(url, { token }).replace(/^(\s+)token: .*$/m, `$&\n$1as: ${user}`);
  await writeFile(kubeconfig, impersonating, { mode: 0o600 });
  const shadow = startMillwright([
    "run",
    "--shadow",
    "--provider=mock",
    `--control-kubeconfig=${kubeconfig}`,
    ...flags,
  ]);
  // From then on it reports on SIGUSR2.
  await shadow.waitFor(/"msg":"Starting"/);
  return shadow;
}
