import { emptyFleet } from "./fleet.js";

/**
 * @import { Fleet } from "./fleet.js"
 * @import { ConnectionState } from "./connection.js"
 * @import { MachineRow } from "../src/rows/rows.ts"
 */

/**
 * What users do.
 *
 * @typedef {object} Acts
 * @property {(text: string) => void} filter
 * @property {(order: "attention" | "name") => void} order
 * @property {(scrollTop: number) => void} scroll
 * @property {(id: string) => void} open
 * @property {() => void} close
 * @property {(token: string) => void} useToken
 */

/**
 * Everything that the page shows. Views only read it.
 *
 * @typedef {object} App
 * @property {Fleet} fleet
 * @property {{ state: ConnectionState, problem: string }} connection
 * @property {number} lastEventMs when the last event arrived; 0 before the first
 * @property {number} nowMs
 * @property {string} filter
 * @property {"attention" | "name"} order
 * @property {readonly MachineRow[]} visible machines that match the filter, in their order
 * @property {string | undefined} selected id of a machine
 * @property {string | undefined} opened id of a machine or deployment
 * @property {{ state: "loading" | "shown" | "gone", value: any, problem: string }} details of what is opened
 * @property {{ scrollTop: number, height: number, tops: readonly number[] }} list pixels; where its rows begin
 * @property {Acts} act
 */

/**
 * What the page shows first.
 *
 * @param {Acts} act
 * @returns {App}
 */
export const createApp = (act) => ({
  fleet: emptyFleet(),
  connection: { state: "connecting", problem: "" },
  lastEventMs: 0,
  nowMs: Date.now(),
  filter: "",
  order: "attention",
  visible: [],
  selected: undefined,
  opened: undefined,
  details: { state: "loading", value: undefined, problem: "" },
  list: { scrollTop: 0, height: 600, tops: [0] },
  act,
});
