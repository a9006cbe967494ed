import type { Subject } from "../request-script.ts";
import { access } from "./access.ts";
import { serverSideApply } from "./apply.ts";
import { create } from "./create.ts";
import { customResources } from "./custom-resources.ts";
import { definitions } from "./definitions.ts";
import { deletion } from "./delete.ts";
import { discovery } from "./discovery.ts";
import { dryRun } from "./dry-run.ts";
import { eviction } from "./eviction.ts";
import { fieldValidation } from "./field-validation.ts";
import { garbage } from "./garbage.ts";
import { generateName } from "./generate-name.ts";
import { list } from "./list.ts";
import { machines } from "./machines.ts";
import { namespaceLife } from "./namespaces.ts";
import { patch } from "./patch.ts";
import { read } from "./read.ts";
import { rules } from "./rules.ts";
import { selectors } from "./selectors.ts";
import { subresources } from "./subresources.ts";
import { tables } from "./tables.ts";
import { update } from "./update.ts";
import { watches } from "./watches.ts";
import { wire } from "./wire.ts";

/** All subjects, in the order in which they run. */
export const subjects: readonly Subject[] = [
  create,
  generateName,
  read,
  list,
  selectors,
  update,
  patch,
  serverSideApply,
  deletion,
  garbage,
  subresources,
  customResources,
  definitions,
  machines,
  watches,
  tables,
  dryRun,
  fieldValidation,
  eviction,
  access,
  discovery,
  rules,
  wire,
  namespaceLife,
];
