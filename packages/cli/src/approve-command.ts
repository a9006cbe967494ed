import { Argument, type Command, Option } from "commander";
import type { ApproveFlags } from "./commands/approve.ts";
import { readCount, readDuration } from "./flag-values.ts";
import { addAllNamespaces, addControlCluster, addNamespace, addOutput } from "./target/cluster-flags.ts";

/** Adds `millwright approve`. */
export function addApproveCommand(program: Command, setStatus: (status: number) => void): void {
  addOutput(addAllNamespaces(addNamespace(addControlCluster(program.command("approve")))))
    .description("approve deletions of machines that are held because they are too many at once")
    .addArgument(new Argument("[kind]", "whose machines may be deleted").choices(["deployment", "set", "machine"]))
    .argument("[name]", "name of the object")
    .option("--all", "approve all deletions that are held in the namespace now, or with -A in all")
    .addOption(
      new Option(
        "--for <duration>",
        "approve everything for this time, in advance; default: what is held, and nothing that follows",
      ).argParser(readDuration),
    )
    .addOption(
      new Option(
        "--at-a-time <machines>",
        "how many machines of an object may be deleted, or not replaced yet, at the same time; default: all",
      ).argParser(readCount),
    )
    .addOption(
      new Option(
        "--at-most <machines>",
        "approve nothing if more machines of an object are held; default: any number",
      ).argParser(readCount),
    )
    .option("--dry-run", "print what would be approved, and change nothing")
    .action(
      async (kind: "deployment" | "set" | "machine" | undefined, name: string | undefined, flags: ApproveFlags) => {
        const { approve } = await import("./commands/approve.ts");
        setStatus(await approve(kind, name, flags));
      },
    );
}
