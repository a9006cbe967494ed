import type { Command } from "commander";
import type { AdoptFlags } from "./commands/adopt.ts";
import type { ExportFlags } from "./commands/export.ts";
import type { ReplayFlags } from "./commands/replay.ts";
import type { RestoreFlags } from "./commands/restore.ts";
import type { SnapshotFlags } from "./commands/snapshot.ts";
import type { ValidateFlags } from "./commands/validate.ts";
import { addProviderTlsFlags } from "./driver-flags.ts";
import {
  addControlCluster,
  addNamespace,
  addOutput,
  addTargetCluster,
  rejectAllNamespaces,
} from "./target/cluster-flags.ts";

const oneNamespace = "a file has the objects of one namespace; use --namespace";

/** Adds the commands that save and restore objects, or check files of them: `millwright snapshot` and `replay`, `export` and `restore`, `adopt`, and `validate`. */
export function addFileCommands(program: Command, setStatus: (status: number) => void): void {
  addSnapshotCommands(program, setStatus);
  addBackupCommands(program, setStatus);
  addAdoptCommand(program);
  addValidateCommand(program, setStatus);
}

function addValidateCommand(program: Command, setStatus: (status: number) => void): void {
  addOutput(addProviderTlsFlags(program.command("validate <path...>")))
    .description(
      "check manifests of machines, their owners and classes without a cluster and a cloud, with line and field: status 0 when they are valid, 1 when not",
    )
    .option("--strict", "fail for keys that a driver ignores, too")
    .option(
      "--provider <name...>",
      "drivers that are not in this repository, for classes that need them: an npm package, a path, or unix:///path or grpcs://host:port",
    )
    .action(async (paths: readonly string[], flags: ValidateFlags) => {
      const { validate } = await import("./commands/validate.ts");
      setStatus(await validate(paths, flags));
    });
}

function addSnapshotCommands(program: Command, setStatus: (status: number) => void): void {
  rejectAllNamespaces(addNamespace(addTargetCluster(addControlCluster(program.command("snapshot")))), oneNamespace)
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

function addBackupCommands(program: Command, setStatus: (status: number) => void): void {
  addOutput(rejectAllNamespaces(addNamespace(addControlCluster(program.command("export"))), oneNamespace), [
    "yaml",
    "json",
  ])
    .description("print machines, their owners and classes in a form that can be created again, for millwright restore")
    .option("-f, --file <file>", "where to write it, readable by you alone (default: standard output)")
    .option("--secrets", "export the Secrets of the classes, too: credentials and user data")
    .action(async (flags: ExportFlags) => {
      const { exportCommand } = await import("./commands/export.ts");
      await exportCommand(flags);
    });

  addOutput(
    rejectAllNamespaces(
      addNamespace(addControlCluster(addProviderTlsFlags(program.command("restore <file>")))),
      oneNamespace,
    ),
  )
    .description(
      "create what is missing of an export, also of one by kubectl get -o json, so that machines keep their VMs; it may be repeated: status 0 when everything is there, 3 when something was left out",
    )
    .option("--dry-run", "print what would be done, and change nothing")
    .option("--without-cloud-check", "create the Machines whatever VMs the cloud lists, or where it cannot list them")
    .option(
      "--provider <name...>",
      "drivers that are not in this repository, for classes that need them: an npm package, a path, or unix:///path or grpcs://host:port",
    )
    .action(async (file: string, flags: RestoreFlags) => {
      const { restoreCommand } = await import("./commands/restore.ts");
      setStatus(await restoreCommand(file, flags));
    });
}

function addAdoptCommand(program: Command): void {
  addOutput(
    rejectAllNamespaces(
      addNamespace(addTargetCluster(addControlCluster(addProviderTlsFlags(program.command("adopt <node-or-vm>"))))),
      "a VM belongs to one namespace; use --namespace",
    ),
  )
    .description("create the Machine that keeps a VM without Machine, or print why that cannot be done")
    .requiredOption("--deployment <name>", "MachineDeployment that gets the Machine")
    .option("--dry-run", "print what would be created, and change nothing")
    .option(
      "--provider <name...>",
      "drivers that are not in this repository, for classes that need them: an npm package, a path, or unix:///path or grpcs://host:port",
    )
    .action(async (subject: string, flags: AdoptFlags) => {
      const { adoptCommand } = await import("./commands/adopt.ts");
      await adoptCommand(subject, flags);
    });
}
