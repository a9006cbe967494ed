import type { Command } from "commander";
import type { ReplayFlags } from "./commands/replay.ts";
import type { SnapshotFlags } from "./commands/snapshot.ts";
import {
  addControlCluster,
  addNamespace,
  addOutput,
  addTargetCluster,
  rejectAllNamespaces,
} from "./target/cluster-flags.ts";

/** Adds `millwright snapshot` and `millwright replay`. */
export function addSnapshotCommands(program: Command, setStatus: (status: number) => void): void {
  rejectAllNamespaces(
    addNamespace(addTargetCluster(addControlCluster(program.command("snapshot")))),
    "a file has the objects of one namespace; use --namespace",
  )
    .description(
      "write what the controllers read of a namespace to a file, without data of Secrets, for describe, why and plan with --state, and for replay",
    )
    .option("-f, --file <file>", "where to write it (default: standard output)")
    .action(async (flags: SnapshotFlags) => {
      const { snapshotCommand } = await import("./commands/snapshot.ts");
      await snapshotCommand(flags);
    });

  addOutput(addNamespace(program.command("replay <file>")), ["text", "json", "yaml"])
    .description(
      "print what the controllers of this version would do next with the objects of a snapshot, and write nothing: status 0 when nothing, 3 when something",
    )
    .action(async (file: string, flags: ReplayFlags) => {
      const { replay } = await import("./commands/replay.ts");
      setStatus(await replay(file, flags));
    });
}
