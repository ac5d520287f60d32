#!/bin/sh
# Counts the words of standard input.
wc -w | tr -d ' '
