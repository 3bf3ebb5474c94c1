// Every text of the page in one table: another language is another file of this shape.

import { app } from "../texts/app";
import { dataset } from "../texts/dataset";
import { incidents } from "../texts/incidents";
import { lineage } from "../texts/lineage";
import { records } from "../texts/records";
import { stage } from "../texts/stage";
import { timeline } from "../texts/timeline";
import { traces } from "../texts/traces";
import { values } from "../texts/values";
import { views } from "../texts/views";

export const t = { ...values, ...app, ...stage, ...lineage, ...dataset, ...views, ...records, ...incidents, timeline, ...traces };
