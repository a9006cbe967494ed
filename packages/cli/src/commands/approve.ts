import { systemClock } from "@millwright/core";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import type { ApprovalSelection } from "@millwright/runtime";
import { renderApproval } from "../approve/render-approval.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { controlKubeConfig, type NamespaceFlags } from "../target/cluster-flags.ts";

/** Flags of `millwright approve`. */
export interface ApproveFlags extends NamespaceFlags {
  readonly all?: true;
  /** Milliseconds. */
  readonly for: number;
  readonly dryRun?: true;
  readonly output: "text" | "json";
}

/** What the arguments select. */
function selectionOf(
  kind: "deployment" | "set" | "machine" | undefined,
  name: string | undefined,
  { all }: Pick<ApproveFlags, "all">,
): ApprovalSelection {
  if (all === true && kind === undefined) return { kind: "all" };
  if (all === true || kind === undefined || name === undefined)
    throw new UsageError('name one object, such as "deployment NAME" or "machine NAME", or use --all');
  return { kind, name };
}

/** Approves deletions that are held, or will be; resolves with the exit status. */
export async function approve(
  kind: "deployment" | "set" | "machine" | undefined,
  name: string | undefined,
  flags: ApproveFlags,
): Promise<number> {
  const selection = selectionOf(kind, name, flags);
  const { approveDeletions } = await import("@millwright/runtime");
  const config = await loadKubeConfig(controlKubeConfig(flags));
  const control = createApiClient(config, { userAgent: "millwright", fieldManager: "millwright" });
  try {
    const report = await approveDeletions({
      control,
      namespace: flags.namespace ?? config.namespace ?? "default",
      selection,
      forMs: flags.for,
      isDryRun: flags.dryRun === true,
      clock: systemClock,
      signal: untilStopSignal(),
    });
    process.stdout.write(
      flags.output === "json" ? `${JSON.stringify(report, undefined, 2)}\n` : renderApproval(report),
    );
    return 0;
  } finally {
    await control.close();
  }
}
