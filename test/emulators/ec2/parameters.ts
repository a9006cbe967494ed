import { Ec2Refusal } from "./refusal.ts";

/**
 * The parameters of a request of the query protocol: a flat form whose keys are paths (`NetworkInterface.1.SubnetId`). An action reads the known
 * parameters and rejects the rest, so that no test passes with an ignored parameter.
 */
export interface Parameters {
  text(path: string): string | undefined;
  /** As `text`, rejected with `MissingParameter` when it is absent. */
  required(path: string): string;
  number(path: string): number | undefined;
  flag(path: string): boolean | undefined;
  /** The texts `path.1`, `path.2`, … in order. */
  texts(path: string): readonly string[];
  /** The groups `path.1.…`, `path.2.…`, … in order. */
  items(path: string): readonly Parameters[];
  /** The parameters below `path.`; undefined when there are none. */
  group(path: string): Parameters | undefined;
  /** Rejects parameters that were not read with `UnknownParameter`. */
  refuseUnread(): void;
}

/**
 * Rejects a dry run that would have succeeded, as EC2 does (`DryRun` in the API reference of every action).
 *
 * @throws Ec2Refusal DryRunOperation
 */
export function refuseDryRun(parameters: Parameters): void {
  if (parameters.flag("DryRun") !== true) return;
  throw new Ec2Refusal("DryRunOperation", "Request would have succeeded, but DryRun flag is set.");
}

/** Reads the form of a request. */
export function readParameters(body: string): Parameters {
  const form = new Map(new URLSearchParams(body));
  const unread = new Set(form.keys());
  unread.delete("Action");
  unread.delete("Version");
  return below("", form, unread);
}

function below(prefix: string, form: ReadonlyMap<string, string>, unread: Set<string>): Parameters {
  const text = (path: string): string | undefined => {
    unread.delete(prefix + path);
    return form.get(prefix + path);
  };
  const numbersUnder = (path: string): readonly number[] => {
    const start = `${prefix + path}.`;
    const numbers = new Set<number>();
    for (const key of form.keys()) {
      if (key.startsWith(start)) numbers.add(Number(key.slice(start.length).split(".")[0]));
    }
    return [...numbers].filter(Number.isInteger).toSorted((a, b) => a - b);
  };
  return {
    text,
    required(path) {
      const value = text(path);
      if (value === undefined || value === "") {
        throw new Ec2Refusal("MissingParameter", `The request must contain the parameter ${prefix + path}`);
      }
      return value;
    },
    number(path) {
      const value = text(path);
      if (value === undefined) return undefined;
      if (!/^-?\d+$/.test(value)) {
        throw new Ec2Refusal("InvalidParameterValue", `Value (${value}) for parameter ${prefix + path} is invalid.`);
      }
      return Number(value);
    },
    flag(path) {
      const value = text(path);
      if (value === undefined) return undefined;
      if (value !== "true" && value !== "false") {
        throw new Ec2Refusal("InvalidParameterValue", `Value (${value}) for parameter ${prefix + path} is invalid.`);
      }
      return value === "true";
    },
    texts: (path) => numbersUnder(path).map((number) => text(`${path}.${number}`) ?? ""),
    items: (path) => numbersUnder(path).map((number) => below(`${prefix + path}.${number}.`, form, unread)),
    group(path) {
      const start = `${prefix + path}.`;
      return [...form.keys()].some((key) => key.startsWith(start)) ? below(start, form, unread) : undefined;
    },
    refuseUnread() {
      const [first] = unread;
      if (first !== undefined) {
        throw new Ec2Refusal("UnknownParameter", `The parameter ${first} is not recognized`);
      }
    },
  };
}
