import { Help, type HelpConfiguration } from "commander";

/** Names longer than this get a line of their own: with the longest one in the column, nothing would be left for descriptions. */
const MAX_NAME_WIDTH = 30;

/** The layout of help: names in a column that leaves room for descriptions on a terminal of 80 columns. */
export const helpLayout: HelpConfiguration = {
  padWidth: (command, helper) => Math.min(Help.prototype.padWidth.call(helper, command, helper), MAX_NAME_WIDTH),
  formatItem(name, width, description, helper) {
    const format = (left: string): string => Help.prototype.formatItem.call(helper, left, width, description, helper);
    return helper.displayWidth(name) <= width ? format(name) : `  ${name}\n${format("")}`;
  },
};
