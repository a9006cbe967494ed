import type { Log } from "@millwright/kube";
import type { CrdState } from "../model/crd-state.ts";
import { remedy } from "./hold-texts.ts";

/** One line for each change of a definition that people should know of. */
export function logCrdChange(log: Log, definition: CrdState, before: CrdState): void {
  const { name, state } = definition;
  if (state === "going" && !definition.isMeant)
    log("warn", "A CustomResourceDefinition is being deleted; its objects and their VMs are held", {
      definition: name,
      remedy: remedy(definition),
    });
  else if (state === "going")
    log(
      "warn",
      "A CustomResourceDefinition is being deleted; its objects and their VMs go with it, as its annotation says",
      {
        definition: name,
      },
    );
  else if (state === "gone") log("warn", "A CustomResourceDefinition is gone", { definition: name });
  else if (state === "standing" && before.state === "gone")
    log("info", "A CustomResourceDefinition is there again", { definition: name });
}
