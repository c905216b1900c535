((class_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)]
  body: (_) @body) @class
  (#set! members "private"))
(struct_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)]
  body: (_) @body) @struct
(field_declaration_list (access_specifier) @access)
; class MACRO Name {…} reads as a function
(function_definition type: (class_specifier !body) declarator: (identifier) @name body: (_) @body)
  @class
(function_definition type: (struct_specifier !body) declarator: (identifier) @name body: (_) @body)
  @struct
(namespace_definition !name) @unnamed
(friend_declaration) @local

; Functions; what they return may be a pointer or a reference.
(function_definition declarator: [
    (function_declarator declarator: [(identifier) (field_identifier)] @name)
    (pointer_declarator (function_declarator declarator: [(identifier) (field_identifier)] @name))
    (reference_declarator (function_declarator declarator: [(identifier) (field_identifier)] @name))
  ] body: (_)? @body) @function
(function_definition declarator: [
    (function_declarator declarator: (qualified_identifier
      scope: [(namespace_identifier) @of (template_type name: (type_identifier) @of)]
      name: (identifier) @name))
    (pointer_declarator (function_declarator declarator: (qualified_identifier
      scope: [(namespace_identifier) @of (template_type name: (type_identifier) @of)]
      name: (identifier) @name)))
    (reference_declarator (function_declarator declarator: (qualified_identifier
      scope: [(namespace_identifier) @of (template_type name: (type_identifier) @of)]
      name: (identifier) @name)))
    (function_declarator declarator: (qualified_identifier name: (qualified_identifier
      scope: [(namespace_identifier) @of (template_type name: (type_identifier) @of)]
      name: (identifier) @name)))
    (pointer_declarator (function_declarator declarator: (qualified_identifier
      name: (qualified_identifier
        scope: [(namespace_identifier) @of (template_type name: (type_identifier) @of)]
        name: (identifier) @name))))
  ] body: (_) @body) @function
(declaration declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator (function_declarator declarator: (identifier) @name))
    (reference_declarator (function_declarator declarator: (identifier) @name))
  ]) @prototype
(field_declaration declarator: [
    (function_declarator declarator: (field_identifier) @name)
    (pointer_declarator (function_declarator declarator: (field_identifier) @name))
    (reference_declarator (function_declarator declarator: (field_identifier) @name))
  ]) @prototype

(alias_declaration name: (type_identifier) @name type: (_) @value) @type
(concept_definition name: (identifier) @name (_) @body) @type
(type_definition type: [
    (primitive_type) (sized_type_specifier) (type_identifier) (qualified_identifier)
    (template_type) (struct_specifier !body) (union_specifier !body) (enum_specifier !body)
  ] declarator: [
    (type_identifier) @name
    (pointer_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: (type_identifier) @name)))
  ]) @type

; Variables of the file
(translation_unit (declaration declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (init_declarator declarator: [
      (identifier) @name
      (array_declarator declarator: (identifier) @name)
      (pointer_declarator declarator: (identifier) @name)
    ] value: (_) @body)
  ]) @variable)
