import { systemClock } from "@millwright/base";
import { machineDeploymentResource, machineResource, machineSetResource } from "@millwright/core/machine-api";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import type { ApprovalReport, ApprovalSelection } from "@millwright/runtime/reports";
import { renderApproval } from "../approve/render-approval.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { namespacesOf, renderNamespaces } from "../target/all-namespaces.ts";
import { type AllNamespacesFlags, controlKubeConfig } from "../target/cluster-flags.ts";

/** Flags of `millwright approve`. */
export interface ApproveFlags extends AllNamespacesFlags {
  readonly all?: true;
  /** Milliseconds. */
  readonly for?: number;
  readonly atATime?: number;
  readonly atMost?: number;
  readonly dryRun?: true;
  readonly output: "text" | "json";
}

/** What the arguments select. */
function selectionOf(
  kind: "deployment" | "set" | "machine" | undefined,
  name: string | undefined,
  flags: Pick<ApproveFlags, "all" | "allNamespaces">,
): ApprovalSelection {
  const { all } = flags;
  if (all === true && kind === undefined) return { kind: "all" };
  if (all === true || kind === undefined || name === undefined)
    throw new UsageError('name one object, such as "deployment NAME" or "machine NAME", or use --all');
  if (flags.allNamespaces === true)
    throw new UsageError("--all-namespaces: name no object but use --all, or use --namespace");
  return { kind, name };
}

/** Approves deletions that are held, or for a time those that will be; resolves with the exit status. */
export async function approve(
  kind: "deployment" | "set" | "machine" | undefined,
  name: string | undefined,
  flags: ApproveFlags,
): Promise<number> {
  const selection = selectionOf(kind, name, flags);
  if (flags.for !== undefined && (flags.atATime ?? flags.atMost) !== undefined)
    throw new UsageError("--for approves everything for a time: use it without --at-a-time and --at-most");
  if (flags.atATime !== undefined && kind === "machine")
    throw new UsageError("--at-a-time: approve the deployment or the set of the machines");
  const { approveDeletions } = await import("@millwright/runtime/reports");
  const config = await loadKubeConfig(controlKubeConfig(flags));
  const control = createApiClient(config, { userAgent: "millwright", fieldManager: "millwright" });
  try {
    const signal = untilStopSignal();
    const types = [machineDeploymentResource, machineSetResource, machineResource];
    const selected = { flags, configured: config.namespace, types, command: "approve" };
    const options = {
      control,
      selection,
      forMs: flags.for,
      atATime: flags.atATime,
      atMost: flags.atMost,
      isDryRun: flags.dryRun === true,
      clock: systemClock,
      signal,
    };
    const reports: ApprovalReport[] = [];
    for (const namespace of await namespacesOf(control, selected, signal))
      reports.push(await approveDeletions({ ...options, namespace }));
    process.stdout.write(renderNamespaces(reports, flags, renderApproval));
    return 0;
  } finally {
    await control.close();
  }
}
