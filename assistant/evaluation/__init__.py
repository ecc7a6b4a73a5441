"""Evaluation: fixed questions with known answers, put to any model, scored, kept, compared."""
