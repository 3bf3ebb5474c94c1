"""Intake: conversion of received OpenLineage documents to events for the events topic.

splitting    split of an array or of JSON Lines into documents, one at a time, as slices of the bytes
receiving    conversion of one document's bytes to events, or to the reason of its refusal
sink         destination of events, and report of their outcomes
request      documents of one request, until each is settled
settings     settings of incoming documents
"""
