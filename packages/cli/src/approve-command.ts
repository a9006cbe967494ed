import { Argument, type Command, Option } from "commander";
import type { ApproveFlags } from "./commands/approve.ts";
import { readDuration } from "./flag-values.ts";
import { addAllNamespaces, addControlCluster, addNamespace, addOutput } from "./target/cluster-flags.ts";

const HOUR = 3_600_000;

/** Adds `millwright approve`. */
export function addApproveCommand(program: Command, setStatus: (status: number) => void): void {
  addOutput(addAllNamespaces(addNamespace(addControlCluster(program.command("approve")))))
    .description("approve deletions of machines that are held because they are too many at once")
    .addArgument(new Argument("[kind]", "whose machines may be deleted").choices(["deployment", "set", "machine"]))
    .argument("[name]", "name of the object, whether something of it is held already or not")
    .option("--all", "approve all deletions that are held in the namespace now, or with -A in all")
    .addOption(
      new Option("--for <duration>", "how long the approval is valid").argParser(readDuration).default(HOUR, "1h"),
    )
    .option("--dry-run", "print what would be approved, and change nothing")
    .action(
      async (kind: "deployment" | "set" | "machine" | undefined, name: string | undefined, flags: ApproveFlags) => {
        const { approve } = await import("./commands/approve.ts");
        setStatus(await approve(kind, name, flags));
      },
    );
}
