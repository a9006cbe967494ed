import { type Command, InvalidArgumentError, Option } from "commander";

/** A flag of MCM that is accepted, so that its command lines work, and that changes nothing. */
interface IneffectiveFlag {
  /** The flag and its value as commander writes them: `<…>` is required, `[…]` may be left out. */
  readonly flag: string;
  /** Why it changes nothing; completes "has no effect: …". */
  readonly because: string;
}

const ONE_LOG = "logs are lines of JSON; --log-level and --v choose how many";
const UNUSED = "MCM does not use it either";

/** From the options of MCM's two programs (`cmd/machine-controller-manager/app/options`, `pkg/util/provider/app/options`), of today and of former versions. */
const ineffectiveFlags: readonly IneffectiveFlag[] = [
  { flag: "--cloud-provider <name>", because: `${UNUSED}; --provider names the drivers` },
  { flag: "--contention-profiling [true|false]", because: "there are no locks between threads to profile" },
  { flag: "--controller-start-interval <duration>", because: UNUSED },
  { flag: "--delete-migrated-machine-class [true|false]", because: "classes of clouds are not migrated" },
  { flag: "--kube-api-burst <count>", because: "requests are few, and the API server shares its capacity" },
  { flag: "--kube-api-content-type <type>", because: "custom resources have no protobuf form; all requests are JSON" },
  { flag: "--kube-api-qps <count>", because: "requests are few, and the API server shares its capacity" },
  { flag: "--leader-elect-resource-lock <kind>", because: "there is no other kind of lock than leases" },
  { flag: "--log-flush-frequency <duration>", because: "each line of the log is written at once" },
  {
    flag: "--machine-safety-apiserver-statuscheck-period <duration>",
    because: "API servers are asked every 10 s, and only while a timeout depends on it",
  },
  { flag: "--machine-safety-overshooting-period <duration>", because: "machines are counted in every reconcile" },
  {
    flag: "--min-resync-period <duration>",
    because: "caches follow watches, and what waits for a time is reconciled at that time",
  },
  { flag: "--vmodule <list>", because: ONE_LOG },
];

/** Gives a command the flags of MCM that have no effect. Its help mentions them in one line. */
export function addIneffectiveFlags(command: Command): Command {
  for (const { flag } of ineffectiveFlags) {
    const option = new Option(flag).hideHelp();
    command.addOption(flag.startsWith("--leader-elect-resource-lock") ? option.argParser(readLock) : option);
  }
  return command.addHelpText(
    "after",
    "\nFlags of MCM that are not listed are accepted; the log shows why they have no\neffect.",
  );
}

/** The flags of a command line that have no effect, and why. */
export const givenWithoutEffect = (command: Command): readonly { readonly flag: string; readonly because: string }[] =>
  ineffectiveFlags.flatMap(({ flag, because }) => {
    const { long, attributeName } = named(flag);
    return command.getOptionValueSource(attributeName) === "cli" ? [{ flag: long, because }] : [];
  });

const named = (flag: string): { readonly long: string; readonly attributeName: string } => {
  const option = new Option(flag);
  return { long: option.long ?? flag, attributeName: option.attributeName() };
};

/** MCM itself knows other locks by name only: their API groups are gone. */
function readLock(text: string): string {
  if (text !== "leases") throw new InvalidArgumentError('expected "leases", the only kind of lock.');
  return text;
}
