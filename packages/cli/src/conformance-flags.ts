import { type Command, Option } from "commander";
import { addProviderTlsFlags } from "./driver-flags.ts";
import type { ConformanceFlags } from "./commands/conformance.ts";
import { readCount } from "./flag-values.ts";

/** Adds the parts of a fixture that need no module. */
const addFixtureFlags = (command: Command): Command =>
  command
    .option(
      "--other-class <file>",
      "a manifest with a MachineClass of the same cluster whose VMs differ, such as by size",
    )
    .option("--other-cluster-class <file>", "a manifest with a MachineClass of another cluster in the same account")
    .option(
      "--pending-class <file>",
      "a manifest with a MachineClass whose creations and deletions are pending at first",
    )
    .option(
      "--missing-reference-class <file...>",
      "manifests with MachineClasses that name something that does not exist",
    )
    .option("--rejected-secret <file>", "a manifest with a Secret that the cloud rejects")
    .option("--public-secret-key <key...>", "keys of the Secret whose values may be printed")
    .option(
      "--endpoint <url>",
      "URL of the cloud as class or Secret have it; the suite replaces it there by that of its fault proxy",
    )
    .option(
      "--inventory <command>",
      'a shell command that prints the VMs of the cloud: {"vms":[{"id":"vm-1","machineName":"m-1","tags":{},"userData":"BASE64"}],"resources":["vm-1"]}',
    )
    .option("--page-size <number>", "VMs on a full page of a list", readCount)
    .option("--lacks <property=reason...>", "properties that the cloud does not have, each with the reason");

/** Adds `millwright conformance`. */
export function addConformanceCommand(program: Command, setStatus: (status: number) => void): void {
  addFixtureFlags(addProviderTlsFlags(program.command("conformance")))
    .description(
      "check a driver against the driver contract: status 0 when it conforms and nothing is left in the cloud, 1 when not, 2 for invalid arguments",
    )
    .option(
      "--provider <name>",
      "the driver: a short name, an npm package, a path, or unix:///path or grpcs://host:port (default: that of the fixture)",
    )
    .option("--class <file>", "a manifest with a MachineClass (default: that of the fixture)")
    .option("--secret <file>", "a manifest with its Secret (default: that of the fixture)")
    .option("--fixture <file>", "a module whose default export is what the suite cannot know of the cloud")
    .addOption(
      new Option(
        "--profile <profile>",
        "offline: against an emulator; sandbox: few VMs in a real cloud, and leftovers of earlier runs are deleted first; soak: the same with many calls",
      )
        .choices(["offline", "sandbox", "soak"])
        .default("offline"),
    )
    .option("--max-vms <number>", "VMs of the run at once (default: that of the profile, 5 in the sandbox)", readCount)
    .option(
      "--max-creations <number>",
      "VMs that the run creates in total; checks that need more are skipped (default: that of the profile, 200 in the sandbox)",
      readCount,
    )
    .option("--only <id...>", "check these rules only, by their ids or the first part of these")
    .addOption(
      new Option("-o, --output <format>", "format of the report").choices(["table", "junit", "json"]).default("table"),
    )
    .option("--report <file>", "write the report to this file instead of the standard output")
    .action(async (flags: ConformanceFlags) => {
      const { conformance } = await import("./commands/conformance.ts");
      setStatus(await conformance(flags));
    });
}
