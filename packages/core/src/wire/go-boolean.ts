/** The texts that Go's `strconv.ParseBool` reads as true. */
export const goTrueTexts: readonly string[] = ["1", "t", "T", "true", "TRUE", "True"];

/** Whether the text of a label or annotation is true in one of these spellings. */
export const isGoTrue = (text: string | undefined): boolean => text !== undefined && goTrueTexts.includes(text);
